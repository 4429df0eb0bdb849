import { formatDuration, formatExactDuration } from "../core/duration";
import { commandWord } from "../core/command-word";
import { firstLine } from "../core/text";
import type { TaskFacts } from "../ports/task-store";
import { askForApp, waitMsMax } from "./unserved";
import { describeStop } from "./stop-actions";
import type { StopState } from "./stop-actions";

/**
 * Why is this task not running? Turns the facts of one task into sentences: first where it stands, then what decides
 * when it runs (or how it ended), then what else acts on it, then its history. Pure; the facts carry all times as
 * durations measured by the database.
 */

/** What a sentence is about; stable, for programs. */
export type ReasonCode =
  | "state"
  | "paused"
  | "limit-zero"
  | "limit-reached"
  | "shared-limit-reached"
  | "rate-reached"
  | "no-worker"
  | "queue-position"
  | "next"
  | "not-due"
  | "due"
  | "group-full"
  | "group-paused"
  | "group-position"
  | "group-slot"
  | "wave-closed"
  | "claimed"
  | "prefetched"
  | "lease-over"
  | "cancel-requested"
  | "progress"
  | "done"
  | "dead"
  | "cancelled"
  | "retry"
  | "lost"
  | "dedupe";

/** One sentence of an explanation. */
export interface Reason {
  readonly code: ReasonCode;
  /** True: without this the task would run now, or this is how it ended. */
  readonly decides: boolean;
  readonly sentence: string;
}

/** The facts that decide, and since when tokens are held (ISO-8601), where that is known. */
export type ExplainableTask = Omit<
  TaskFacts,
  "priority" | "createdAt" | "traceParent" | "payload" | "holders"
> & {
  readonly holders?: readonly (HolderFacts & { readonly startedAt?: string })[];
  /** Where the definition is paused as a part of it. */
  readonly stop?: Pick<StopState, "by" | "reason">;
  /** Of a cancelled one, where the audit knows it: the actor and the reason. */
  readonly cancelledBy?: { readonly actor: string; readonly reason: string | null };
  /** Of a ready task whose definition no worker serves: the state, and a way out. */
  readonly unserved?: string;
};

type HolderFacts = NonNullable<TaskFacts["holders"]>[number];

/** Counts of tasks ahead stop here. */
const aheadCountedMax = 1_000;
/** Holders that a sentence names. */
const holdersNamedMax = 5;

/** The sentences, in order of importance; never empty, and always at least one that decides. */
export function explainTask(task: ExplainableTask): Reason[] {
  const state = task.state === "blocked" ? "held back" : (task.claim?.standing ?? task.state);
  const standing = `Task ${task.task} (${kindOf(task)}) is ${state}.`;
  const deciding = explainState(task);
  const firstDecides = deciding.some((reason) => reason.decides);
  return [
    { code: "state", decides: !firstDecides, sentence: standing },
    ...deciding.filter((reason) => reason.decides),
    ...explainCancel(task),
    ...deciding.filter((reason) => !reason.decides),
    ...explainHistory(task),
  ];
}

function explainState(task: ExplainableTask): Reason[] {
  switch (task.state) {
    case "done":
    case "dead":
    case "cancelled":
      return explainEnd(task);
    case "claimed":
      return explainClaim(task);
    case "ready":
      return explainReady(task);
    case "scheduled":
      return [...explainSchedule(task), ...explainGroup(task, false), ...explainPause(task, false)];
    case "waiting":
      return [...explainGroup(task, true), ...explainPause(task, true)];
    case "blocked":
      return [decides("wave-closed", describeWave(task)), ...explainPause(task, true)];
  }
}

/** Why its wave isn't open, and what opens it. */
function describeWave({ wave }: ExplainableTask): string {
  if (wave === undefined || wave === null) {
    return "Its wave isn't open: it opens when the last task of the wave before has ended.";
  }
  const { batch, name, batchState, ordinal, state } = wave;
  const of = `batch ${batch} (${quote(name)})`;
  if (batchState === "draft") {
    return `Its wave ${String(ordinal)} isn't open: ${of} is a draft. The code that made it starts it by \`batches.start\`; \`taskgate batch ${batch} --cancel\` gives it up.`;
  }
  if (batchState === "halted") {
    return `Its wave ${String(ordinal)} isn't open: ${of} is halted at a dead task. \`taskgate batch ${batch} --resume\` opens the next wave; redrive the dead task first, if it shall run again.`;
  }
  if (batchState === "cancelled") {
    return `It is of ${of}, which is cancelled: the task ends as cancelled, and gives its dedupe key back, when the tasks of the open wave have ended.`;
  }
  if (state === "opening" || state === "open") {
    return `Wave ${String(ordinal)} of ${of} is being opened: a worker or the next sweep lets the task in.`;
  }
  return `Wave ${String(ordinal)} of ${of} isn't open: it opens when the last task of the wave before has ended.`;
}

function explainReady(task: ExplainableTask): Reason[] {
  const pause = explainPause(task, true);
  const limit = [...explainLimit(task), ...explainShared(task), ...explainRate(task)];
  const unserved = task.unserved === undefined ? [] : [decides("no-worker", task.unserved)];
  const ahead = task.readyAhead ?? 0;
  const isHeldBack = pause.length > 0 || limit.length > 0 || unserved.length > 0;
  const position =
    ahead > 0
      ? reason(
          "queue-position",
          !isHeldBack,
          `${count(ahead, "task is", "tasks are")} ahead of it in ${quote(task.definition)}${task.held === 0 && typeof task.limit === "number" ? ", and no worker holds a token of it at this moment" : ""}.`,
        )
      : reason(
          "next",
          !isHeldBack,
          `It is the next of ${quote(task.definition)}${isHeldBack ? "" : ": a worker takes it as soon as one is woken by a hint or by the sweep"}.`,
        );
  return [...pause, ...limit, ...unserved, position, ...explainGroup(task, false)];
}

function explainPause(task: ExplainableTask, isDeciding: boolean): Reason[] {
  if (task.paused !== true) return [];
  if (task.stop !== undefined) return [reason("paused", isDeciding, describeStop(task.stop))];
  const sentence = `Definition ${quote(task.definition)} is paused by an operator: nothing starts until \`taskgate resume ${commandWord(task.definition)}\`.`;
  return [reason("paused", isDeciding, sentence)];
}

function explainLimit(task: ExplainableTask): Reason[] {
  const { limit, held = 0 } = task;
  if (limit === undefined || limit === null || held < limit) return [];
  const source = task.limitSource === "operator" ? "set by an operator" : "set by the code";
  if (limit === 0) {
    const sentence = `The limit of ${quote(task.definition)} is 0, ${source}: nothing starts.`;
    return [decides("limit-zero", sentence)];
  }
  const over = held > limit ? ` (${String(held)} are held: the limit was lowered)` : "";
  const sentence = `The limit of ${quote(task.definition)} is reached: ${count(limit, "token", "tokens")}, ${source}${over}, held by ${describeHolders(task.holders ?? [])}.`;
  return [decides("limit-reached", sentence)];
}

function explainShared(task: ExplainableTask): Reason[] {
  return (task.sharedLimits ?? []).flatMap(({ name, limit, held }) => {
    if (limit === null || held < limit) return [];
    if (limit === 0) {
      const sentence = `The shared limit ${quote(name)} is 0: nothing that draws from it starts.`;
      return [decides("limit-zero", sentence)];
    }
    const sentence = `The shared limit ${quote(name)} is reached: ${count(limit, "token", "tokens")}, ${String(held)} held by all definitions that draw from it.`;
    return [decides("shared-limit-reached", sentence)];
  });
}

function explainRate(task: ExplainableTask): Reason[] {
  const { rate, rateInMs } = task;
  if (rate == null || rateInMs == null || rateInMs <= 0) return [];
  const allowed = `${String(rate.count)} per ${formatExactDuration(rate.periodMs)}`;
  const sentence = `The rate of ${quote(task.definition)} is used up (${allowed}): the next task may start in ${formatDuration(rateInMs)}.`;
  return [decides("rate-reached", sentence)];
}

function describeHolders(
  holders: readonly NonNullable<ExplainableTask["holders"]>[number][],
): string {
  if (holders.length === 0) return "workers that are just ending";
  const named = holders.slice(0, holdersNamedMax).map((holder) => {
    const tokens = holder.tokens > 1 ? `${String(holder.tokens)} tokens, ` : "";
    const since = holder.startedAt === undefined ? "" : `since ${holder.startedAt}, `;
    return `${holder.worker} (execution ${holder.execution}, ${tokens}${since}${describeLease(holder.leaseLeftMs)})`;
  });
  const more = holders.length - named.length;
  return named.join("; ") + (more > 0 ? `; and ${String(more)} more` : "");
}

function describeLease(leaseLeftMs: number): string {
  return leaseLeftMs >= 0
    ? `lease left ${formatDuration(leaseLeftMs)}`
    : `dead: lease over for ${formatDuration(leaseLeftMs)}, the next worker takes its tokens`;
}

function explainSchedule(task: ExplainableTask): Reason[] {
  const dueInMs = task.dueInMs ?? 0;
  if (dueInMs > 0) return [decides("not-due", `It is not due for ${formatDuration(dueInMs)}.`)];
  const late = `It has been due for ${formatDuration(dueInMs)}`;
  if (dueInMs < -waitMsMax) {
    const sentence = `${late}, and no worker has made it ready. ${askForApp(task.definition)}`;
    return [decides("no-worker", sentence)];
  }
  const sentence = `${late}: the next worker of ${quote(task.definition)} or the next sweep makes it ready.`;
  return [decides("due", sentence)];
}

function explainGroup(task: ExplainableTask, isDeciding: boolean): Reason[] {
  const { group } = task;
  if (group === undefined) return [];
  const scope = group.isGlobal ? "Global group" : "Group";
  const name = `${scope} ${quote(group.key)}`;
  const slots = `${String(group.used)} of ${count(group.slots, "slot", "slots")}`;
  if (!isDeciding) {
    const order = group.strict ? ", strictly in order" : "";
    const own = group.holders.includes(task.task) ? ", one by itself" : "";
    return [reason("group-slot", false, `${name}: ${slots} in use${own}${order}.`)];
  }
  const reasons: Reason[] = [];
  if (group.paused)
    reasons.push(decides("group-paused", `${name} is paused: none of its tasks starts.`));
  if (group.used >= group.slots) {
    const holders = group.holders.slice(0, holdersNamedMax).map((holder) => `task ${holder}`);
    const by = holders.length === 0 ? "" : `, held by ${holders.join(", ")}`;
    reasons.push(decides("group-full", `${name} is full: ${slots} in use${by}.`));
  }
  if (group.ahead > 0) {
    const isFirst = reasons.length === 0;
    const sentence = `${count(group.ahead, "task waits", "tasks wait")} ahead of it in the group.`;
    reasons.push(reason("group-position", isFirst, sentence));
  }
  if (reasons.length === 0) {
    const sentence = `${name} has a free slot: the next worker or sweep makes the task ready.`;
    reasons.push(decides("group-slot", sentence));
  }
  return reasons;
}

function explainClaim(task: ExplainableTask): Reason[] {
  const { claim } = task;
  if (claim === undefined) return [];
  const by = `${claim.worker} (execution ${claim.execution}) since ${claim.claimedAt}, fence ${claim.fence}`;
  if (claim.standing === "lost") {
    const sentence = `Claimed by ${by}, whose lease is over for ${formatDuration(claim.leaseLeftMs)}: the next worker or sweep takes the task back.`;
    return [decides("lease-over", sentence), ...explainProgress(task)];
  }
  const lease = `lease left ${formatDuration(claim.leaseLeftMs)}`;
  if (claim.standing === "prefetched") {
    const sentence = `Prefetched by ${by}, ${lease}: it starts when a token of that worker is idle.`;
    return [decides("prefetched", sentence), ...explainPause(task, false)];
  }
  return [
    decides("claimed", `Claimed by ${by}, ${lease}: it is running.`),
    ...explainProgress(task),
  ];
}

function explainProgress(task: ExplainableTask): Reason[] {
  const { progress } = task;
  if (progress === undefined || progress === null) return [];
  const { done, total, text } = progress;
  const numbers =
    done === null ? "" : total === null ? String(done) : `${String(done)} of ${String(total)}`;
  const words = [numbers, text ?? ""].filter((part) => part !== "").join(", ");
  return words === "" ? [] : [reason("progress", false, `Its progress: ${words}.`)];
}

function explainCancel(task: ExplainableTask): Reason[] {
  if (task.isCancelRequested !== true) return [];
  const sentence =
    "Its cancellation was asked for: its handler is told, and it ends as cancelled unless it ends well before.";
  return [reason("cancel-requested", false, sentence)];
}

function explainEnd(task: ExplainableTask): Reason[] {
  const at = task.endedAt === undefined ? "" : ` at ${task.endedAt}`;
  const by = task.worker === undefined || task.worker === null ? "" : ` by ${task.worker}`;
  if (task.state === "cancelled")
    return [decides("cancelled", `Cancelled${at}.${cancelReason(task)}`)];
  if (task.state === "dead") {
    const since = task.endedAt === undefined ? "" : ` since ${task.endedAt}`;
    return [decides("dead", `Dead${since} ${deathCause(task)}${describeError(task)}`)];
  }
  const took =
    task.durationMs === undefined || task.durationMs === null
      ? ""
      : ` in ${formatDuration(task.durationMs)}`;
  return [decides("done", `Done${at}${by}${took}.`)];
}

/** What was said when it was cancelled; the error of an attempt before that isn't the reason. */
function cancelReason({ error: reason, attempts, cancelledBy }: ExplainableTask): string {
  if (cancelledBy !== undefined) {
    const { actor, reason } = cancelledBy;
    return ` ${quote(actor)} asked for it${reason === null ? "." : `. Reason: ${sentenceOf(reason)}`}`;
  }
  if (reason === null || attempts.some(({ error }) => error === reason)) return "";
  return ` Reason: ${sentenceOf(reason)}`;
}

function deathCause(task: ExplainableTask): string {
  const { failedCount, lostCount, retryAttempts, lostMax } = task;
  if (task.attempts[0]?.outcome === "lost" || (lostMax !== undefined && lostCount > lostMax)) {
    return `because its worker died under it ${count(lostCount, "time", "times")}${lostMax === undefined ? "" : `, ${String(lostMax)} are allowed`}.`;
  }
  if (failedCount + lostCount === 0) return "because no handler could begin it.";
  if (retryAttempts !== undefined && failedCount < retryAttempts) {
    return `because its handler gave up at attempt ${String(failedCount + lostCount)} of ${String(retryAttempts)}.`;
  }
  if (retryAttempts === undefined)
    return `because ${count(failedCount, "attempt", "attempts")} failed.`;
  return `because its attempts are used up: ${String(failedCount)} of ${String(retryAttempts)} failed.`;
}

function explainHistory(task: ExplainableTask): Reason[] {
  const reasons: Reason[] = [];
  const isOpen = task.state !== "done" && task.state !== "dead" && task.state !== "cancelled";
  if (task.failedCount > 0 && task.state !== "dead") {
    const max = task.retryAttempts === undefined ? "" : ` of ${String(task.retryAttempts)}`;
    const sentence = isOpen
      ? `Retry ${String(task.failedCount)}${max}: ${count(task.failedCount, "attempt has", "attempts have")} failed.${describeError(task)}`
      : `${count(task.failedCount, "attempt", "attempts")} failed before.`;
    reasons.push(reason("retry", false, sentence));
  }
  if (task.lostCount > 0 && task.state !== "dead") {
    const allowed = task.lostMax === undefined ? "" : `, ${String(task.lostMax)} are allowed`;
    const sentence = `Its worker died under it ${count(task.lostCount, "time", "times")}${allowed}.`;
    reasons.push(reason("lost", false, sentence));
  }
  if (task.dedupeKey !== null) {
    reasons.push(reason("dedupe", false, `Its dedupe key is ${quote(task.dedupeKey)}.`));
  }
  return reasons;
}

function describeError(task: ExplainableTask): string {
  if (task.error === null) return "";
  return ` Last error: ${sentenceOf(task.error)}`;
}

function sentenceOf(text: string): string {
  const line = firstLine(text);
  return `${line}${/[.!?]$/.test(line) ? "" : "."}`;
}

function decides(code: ReasonCode, sentence: string): Reason {
  return reason(code, true, sentence);
}

function reason(code: ReasonCode, isDeciding: boolean, sentence: string): Reason {
  return { code, decides: isDeciding, sentence };
}

function kindOf(task: ExplainableTask): string {
  return task.kind === task.definition
    ? quote(task.definition)
    : `${quote(task.kind)} of ${quote(task.definition)}`;
}

function quote(name: string): string {
  return `\`${name}\``;
}

function count(number: number, one: string, many: string): string {
  const shown = number >= aheadCountedMax ? `${String(aheadCountedMax)} or more` : String(number);
  return `${shown} ${number === 1 ? one : many}`;
}
