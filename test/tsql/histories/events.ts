import type { Call } from "./call";
import type { Outcome } from "./perform";

/** What happened in a call, in words that can be counted: histories that meet nothing prove nothing. */
export function eventsOf(call: Call, outcome: Outcome): string[] {
  if (outcome.did === "nothing") return [`${call.do} ${outcome.error.code}`];
  const { answer } = outcome;
  const status = answer !== null && "status" in answer ? ` ${answer.status}` : "";
  return [`${call.do}${status}`, ...detailsOf(call, outcome).map((what) => `${call.do}: ${what}`)];
}

function detailsOf(call: Call, outcome: Exclude<Outcome, { did: "nothing" }>): string[] {
  switch (outcome.did) {
    case "start":
    case "acquire":
      return when({ "a dead holder was found": outcome.answer.deadHolders > 0 });
    case "work": {
      const { claimed, refused, woken } = outcome.answer;
      return when({
        "a prefetched claim": claimed.some((task) => task.isPrefetched),
        "a grouped task": claimed.some((task) => task.isGrouped),
        "a task with a cancel request": claimed.some((task) => task.isCancelRequested),
        "a task of a newer build": claimed.some((task) => task.isFromNewerBuild),
        "a checkpoint": claimed.some((task) => task.checkpoint !== null),
        "a further attempt": claimed.some((task) => task.attempt > 1),
        "a third loss is awaited": claimed.some((task) => task.attempt > 2),
        "something refused": refused.length > 0,
        "another definition woken": woken.length > 0,
        "tokens over the limit": outcome.answer.overLimit > 0,
        "a release was requested": outcome.answer.releaseRequested,
        "free tokens": outcome.answer.freeTokens > 0,
        "a wave is opening": outcome.answer.opening.length > 0,
        "the rate is over": outcome.answer.retryInMs !== null,
        "after a place": call.do === "work" && call.after !== undefined && claimed.length > 0,
      });
    }
    case "cancel":
    case "redrive":
    case "redriveFound":
    case "reschedule":
      return [...new Set(outcome.answer.results.map((result) => result.outcome))];
    case "pumpBatch":
      return when({ "more left": outcome.answer.more });
    case "listBatches":
      return [...new Set(outcome.answer.batches.map((batch) => batch.state))];
    case "setGroup":
      return when({ "another definition woken": outcome.answer.woken.length > 0 });
    case "fail":
      return [...new Set(outcome.answer.results.map((result) => result.outcome))];
    case "reclaim":
      return when({
        "a loss": outcome.answer.tasksLost > 0,
        "an end": outcome.answer.tasksDead > 0,
        "back to ready": outcome.answer.tasksBack > 0,
        "more left": outcome.answer.more,
      });
    case "heartbeat": {
      const beats = outcome.answer.executions;
      const statuses = [...new Set(beats.map((beat) => beat.status))];
      return [
        ...statuses,
        ...when({ "a cancel told": beats.some((beat) => beat.cancel.length > 0) }),
      ];
    }
    case "finish":
      return when({
        "given back": outcome.answer.givenBack > 0,
        "another definition woken": outcome.answer.woken.length > 0,
      });
    case "sweep":
      return when({ "a schedule is due": outcome.answer.schedules.some(({ inMs }) => inMs <= 0) });
    case "fireSchedule":
      return when({ tasks: outcome.answer.taskIds.length > 0 });
    case "setSharedLimit":
      return when({ "tokens over the limit": outcome.answer.overLimit > 0 });
    case "listSharedLimits": {
      const rows = outcome.answer.sharedLimits;
      return when({
        "a full one": rows.some(({ limit, held }) => limit !== null && held >= limit && held > 0),
        "held by two definitions": rows.some(
          ({ definitions }) => definitions.filter(({ held }) => held > 0).length > 1,
        ),
      });
    }
    case "advanceWatermark":
    case "enqueue":
      return [...new Set(outcome.answer.outcomes)];
    case "explain":
      return outcome.answer.facts === null ? [] : [outcome.answer.facts.state];
    case "transaction":
      return call.do === "transaction" ? [call.ends, ...call.calls.map((inner) => inner.do)] : [];
    default:
      return [];
  }
}

function when(events: Readonly<Record<string, boolean>>): string[] {
  return Object.keys(events).filter((event) => events[event] === true);
}
