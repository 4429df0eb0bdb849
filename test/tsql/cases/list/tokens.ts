import {
  acquire,
  enqueue,
  finish,
  heartbeat,
  pause,
  plainTasks,
  readFreeTokens,
  reclaim,
  register,
  release,
  releaseSurplus,
  resume,
  setLimit,
  start,
  sweep,
  work,
  tokensOfBefore,
} from "../calls";
import { allOf, heldTokens, isAny, numberOf, oneOf, statusOf, tokensOf } from "../endings";
import { leaseOver } from "../model-case";
import type { Ending, ModelCase } from "../model-case";
import { definitionRow, executionRow, latch, only } from "../permitted-waits";

const waits = [definitionRow];

/** A fenced call is told of no token, freed or held, and owes no hint. */
function freesNothingFenced(end: Ending): string | undefined {
  const answer = end.answers[1]?.[0];
  if (statusOf(answer) !== "fenced") return undefined;
  const told = `${String(numberOf(answer, "Tokens"))} and ${String(numberOf(answer, "Freed"))}`;
  if (Number(answer?.rows[0]?.["Ready"] ?? 0) === 1)
    return "fenced, but told of tasks for a freed token";
  return told === "0 and 0" ? undefined : `fenced, but told of ${told} tokens`;
}

/** A task that was added is found: by the call that makes a token free, or by its adder, who finds the token free. */
function foundByOne(end: Ending): string | undefined {
  const isFound = Number(end.answers[0]?.[0]?.rows[0]?.["Ready"] ?? 0) === 1;
  const [, look] = end.answers[1] ?? [];
  // An adder that isn't answered wakes a worker.
  if (look !== undefined && look.errors.length > 0) return undefined;
  if (isFound || (numberOf(look, "Free") > 0 && numberOf(look, "Ready") > 0)) return undefined;
  return "the task waits, and no caller knows of task and token";
}

/** Those who take, give back and count tokens meet on the definition's row. */
export const tokenCases: readonly ModelCase[] = [
  {
    name: "finish-x-enqueue-and-free-tokens",
    about:
      "the holder of the only token ends while a task is added: its end finds the task, or the adder the token",
    setup: [register({ limit: 1 }), start(1, 1)],
    callers: [[finish(1)], [enqueue(plainTasks(1)), readFreeTokens]],
    waits,
    readersWait: true,
    victims: [1],
    ends: foundByOne,
  },
  {
    name: "resume-x-enqueue-and-free-tokens",
    about:
      "a definition is resumed while a task is added: the resume finds the task, or the adder the token",
    setup: [register({ limit: 1 }), pause],
    callers: [[resume], [enqueue(plainTasks(1)), readFreeTokens]],
    waits,
    readersWait: true,
    ends: foundByOne,
  },
  {
    name: "start-x-start",
    about: "limit 1, two starts: one gets the token, the other is told that there is none",
    setup: [register({ limit: 1 })],
    callers: [[start(1, 1)], [start(2, 1)]],
    waits,
    ends: (end) => oneOf(end, "started", "limited"),
  },
  {
    name: "start-x-same-start",
    about: "a start and its repeat: one execution, one answer",
    setup: [register({ limit: 2 })],
    callers: [[start(1, 1)], [start(1, 1)]],
    waits: [definitionRow, executionRow],
    ends: (end) => {
      const ids = end.answers.flat().map((answer) => answer.rows[0]?.["TaskExecutionId"]);
      if (end.rows("TaskExecution").length !== 1 || ids[0] !== ids[1])
        return `executions ${ids.join(", ")}`;
      return heldTokens(end, 1);
    },
  },
  {
    name: "denied-start-x-same-start",
    about: "a start that is denied and its repeat: neither gets anything",
    setup: [register({ limit: 1 }), start(1, 1)],
    callers: [[start(2, 1)], [start(2, 1)]],
    waits,
    ends: (end) =>
      allOf(
        isAny(end.answers[0]?.[0], "limited"),
        isAny(end.answers[1]?.[0], "limited"),
        heldTokens(end, 1),
      ),
  },
  {
    name: "repeated-start-x-sweep",
    about: "a start and its repeat on one connection while the sweep looks: one execution",
    setup: [register({ limit: 2 })],
    callers: [[start(1, 1), start(1, 1)], [sweep]],
    waits,
    readersWait: true,
    ends: (end) =>
      end.rows("TaskExecution").length === 1 ? heldTokens(end, 1) : "there is more than one",
  },
  {
    name: "acquire-x-acquire",
    about: "limit 3, two executions with one token each want a second one: one gets it",
    setup: [register({ limit: 3 }), start(1, 1), start(2, 1)],
    callers: [[acquire(1, 2)], [acquire(2, 2)]],
    waits,
    ends: (end) => heldTokens(end, 3),
  },
  {
    name: "acquire-x-acquire-of-before",
    about:
      "limit 3, the tokens are a string of before, two executions with one token each want a second one: the first call makes rows of it, and one gets it",
    setup: [register({ limit: 3 }), start(1, 1), start(2, 1), tokensOfBefore],
    callers: [[acquire(1, 2)], [acquire(2, 2)]],
    waits,
    ends: (end) => heldTokens(end, 3),
  },
  {
    name: "acquire-x-release",
    about:
      "limit 2, one wants a second token while the other gives its own back: it gets it or not, no token is lost",
    setup: [register({ limit: 2 }), start(1, 1), start(2, 1)],
    callers: [[acquire(1, 2)], [release(2, 0)]],
    waits,
    readersWait: true,
    ends: (end) => heldTokens(end, tokensOf(end.answers[0]?.[0])),
  },
  {
    name: "start-x-finish",
    about: "limit 1, a start meets the end of the holder's execution",
    setup: [register({ limit: 1 }), start(1, 1)],
    readersWait: true,
    callers: [[start(2, 1)], [finish(1)]],
    waits: [definitionRow, executionRow],
    ends: (end) => heldTokens(end, statusOf(end.answers[0]?.[0]) === "started" ? 1 : 0),
  },
  {
    name: "finish-x-finish",
    about: "two ends of one execution: its tokens come back once",
    readersWait: true,
    setup: [register({ limit: 2 }), start(1, 2)],
    callers: [[finish(1)], [finish(1)]],
    waits,
    ends: (end) => allOf(heldTokens(end, 0), oneOf(end, "ended", "ended")),
  },
  {
    name: "release-x-release",
    about: "two executions give tokens back: both come back",
    setup: [register({ limit: 4 }), start(1, 2), start(2, 2)],
    callers: [[release(1, 1)], [release(2, 0)]],
    waits,
    ends: (end) => heldTokens(end, 1),
  },
  {
    name: "acquire-x-raise",
    about: "the limit is raised while somebody asks: granted by the limit in force at the grant",
    setup: [register({ limit: 2 }), start(1, 1), start(2, 1)],
    readersWait: true,
    callers: [[acquire(1, 2)], [setLimit(3, 1)]],
    waits,
    ends: (end) => heldTokens(end, 1 + tokensOf(end.answers[0]?.[0])),
  },
  {
    name: "acquire-x-lower",
    about: "the limit is lowered while somebody asks: no grant once it is",
    setup: [register({ limit: 3 }), start(1, 1), start(2, 1)],
    callers: [[acquire(1, 2)], [setLimit(1, 1)]],
    waits,
    ends: (end) => heldTokens(end, 1 + tokensOf(end.answers[0]?.[0])),
  },
  {
    name: "release-x-lower-below-what-is-held",
    about:
      "the limit is lowered below what is held while a holder gives a token back: no free token is left over",
    setup: [register({ limit: 3 }), start(1, 2), start(2, 1)],
    callers: [[release(1, 1)], [setLimit(2, 1)]],
    waits,
    ends: (end) => heldTokens(end, 2),
  },
  {
    name: "finish-x-acquire",
    about:
      "an execution ends while another execution takes more: both planned by the same list, none is lost or held twice",
    setup: [register({ limit: 4 }), start(1, 2), start(2, 1)],
    callers: [[finish(1)], [acquire(2, 2)]],
    waits,
    readersWait: true,
    ends: (end) => heldTokens(end, 2),
  },
  {
    name: "three-take-the-last",
    about:
      "limit 4, three executions hold one token each and all want a second one: one gets it, by the lock's order",
    isLong: true,
    setup: [register({ limit: 4 }), start(1, 1), start(2, 1), start(3, 1)],
    callers: [[acquire(1, 2)], [acquire(2, 2)], [acquire(3, 2)]],
    waits,
    ends: (end) => heldTokens(end, 4),
  },
  {
    name: "acquire-x-first-limit",
    about: "a limit takes the place of none while somebody asks: who runs is counted",
    setup: [register({ limit: -1 }), start(1, 2), start(2, 1)],
    callers: [[acquire(2, 2)], [setLimit(2, 1)]],
    waits: [definitionRow, executionRow],
    ends: (end) => heldTokens(end, 2 + tokensOf(end.answers[0]?.[0])),
  },
  {
    name: "acquire-x-no-limit",
    about: "the limit is taken away while somebody asks: the counters stand in for the string",
    setup: [register({ limit: 2 }), start(1, 1), start(2, 1)],
    readersWait: true,
    callers: [[acquire(2, 3)], [setLimit(-1, 1)]],
    waits: [definitionRow, executionRow],
  },
  {
    name: "set-limit-x-same-set-limit",
    about: "an operator's change and its repeat: one change, one answer",
    setup: [register({ limit: 2 })],
    callers: [[setLimit(3, 1)], [setLimit(3, 1)]],
    waits: [latch, ...waits],
    ends: (end) =>
      end.rows("SettingAudit").length === 2
        ? undefined
        : `${String(end.rows("SettingAudit").length)} entries`,
  },
  {
    name: "acquire-x-sweep",
    about: "the safety net reads while tokens change hands",
    setup: [register({ limit: 2 }), enqueue(plainTasks(1)), start(1, 1)],
    callers: [[acquire(1, 2)], [sweep]],
    readersWait: true,
  },
  {
    name: "start-x-sweep",
    about: "the safety net reads while an execution begins",
    setup: [register({ limit: 1 }), enqueue(plainTasks(1))],
    callers: [[start(1, 1, { needsReady: true })], [sweep]],
    readersWait: true,
  },
  {
    name: "start-x-late-heartbeat",
    about:
      "an asker finds a lease that is over, while its holder renews it: one of them wins (S0.9)",
    setup: [register({ limit: 1 }), start(1, 1), leaseOver],
    callers: [[start(2, 1)], [heartbeat(1)]],
    waits,
    readersWait: true,
    ends: (end) => {
      const isStarted = statusOf(end.answers[0]?.[0]) === "started";
      const isRenewed = String(end.answers[1]?.[0]?.rows[0]?.["Executions"]).includes("renewed");
      if (isStarted && isRenewed)
        return "the token was taken from somebody whose lease was renewed";
      return heldTokens(end, 1);
    },
  },
  {
    name: "start-x-reclaim",
    about: "an asker takes a dead holder's token while its tasks are taken back",
    setup: [
      register({ limit: 2 }),
      enqueue(plainTasks(2)),
      start(1, 2),
      work({ execution: 1, call: 1, want: 2 }),
      leaseOver,
    ],
    callers: [[start(2, 2)], [reclaim]],
    waits: [definitionRow, only(0, executionRow)],
    readersWait: true,
  },
  {
    name: "start-x-zombie-release",
    about:
      "a dead holder gives its token back while an asker takes it: it is granted once (S0.9, S0.10)",
    setup: [register({ limit: 1 }), start(1, 1), leaseOver],
    callers: [[start(2, 1)], [release(1, 0)]],
    waits: [definitionRow, executionRow],
    ends: (end) => heldTokens(end, statusOf(end.answers[0]?.[0]) === "started" ? 1 : 0),
  },
  {
    name: "reclaim-x-zombie-release",
    about: "a dead holder gives a token back while it is declared dead: it frees one, or is fenced",
    setup: [register({ limit: 2 }), enqueue(plainTasks(1)), start(1, 2), leaseOver],
    callers: [[reclaim], [release(1, 1)]],
    waits: [definitionRow, executionRow],
    ends: freesNothingFenced,
  },
  {
    name: "reclaim-x-zombie-surplus",
    about: "the same of tokens above a limit that was lowered",
    setup: [register({ limit: 2 }), start(1, 2), setLimit(1, 9), leaseOver],
    callers: [[reclaim], [releaseSurplus(1, 0)]],
    waits: [definitionRow, executionRow],
    ends: freesNothingFenced,
  },
  {
    name: "start-x-zombie-finish",
    about: "a dead holder ends its execution while an asker takes its token",
    setup: [
      register({ limit: 1 }),
      enqueue(plainTasks(1)),
      start(1, 1),
      work({ execution: 1, call: 1, want: 1 }),
      leaseOver,
    ],
    callers: [[start(2, 1)], [finish(1)]],
    waits: [definitionRow, executionRow],
    ends: (end) => heldTokens(end, statusOf(end.answers[0]?.[0]) === "started" ? 1 : 0),
  },
  {
    name: "start-x-zombie-work",
    about: "a dead holder completes its task while an asker takes its token",
    readersWait: true,
    setup: [
      register({ limit: 1 }),
      enqueue(plainTasks(2)),
      start(1, 1),
      work({ execution: 1, call: 1, want: 1 }),
      leaseOver,
    ],
    callers: [
      [start(2, 1)],
      [work({ execution: 1, call: 2, want: 1, done: [{ task: 1, fence: 1 }] })],
    ],
    waits: [definitionRow, executionRow],
  },
  {
    name: "surplus-x-surplus",
    about: "after a lower limit two holders give back idle tokens: only as many as are too many",
    setup: [register({ limit: 4 }), start(1, 2), start(2, 2), setLimit(3, 1)],
    callers: [[releaseSurplus(1, 0)], [releaseSurplus(2, 0)]],
    waits,
    ends: (end) => heldTokens(end, 3),
  },
  {
    name: "surplus-x-raise",
    about: "a holder gives back idle tokens while the limit is raised again",
    setup: [register({ limit: 4 }), start(1, 2), start(2, 2), setLimit(2, 1)],
    callers: [[releaseSurplus(1, 0)], [setLimit(4, 2)]],
    waits,
  },
  {
    name: "start-x-pause",
    about: "a definition is paused while an execution begins",
    setup: [register({ limit: 1 })],
    callers: [[start(1, 1)], [pause]],
    waits,
    ends: (end) => isAny(end.answers[0]?.[0], "started", "paused"),
  },
  {
    name: "pause-x-resume",
    about: "two operators: each change is made once and written down",
    setup: [register({ limit: 1 }), pause],
    callers: [[pause], [resume]],
    waits,
  },
];

export const longTokenCases: readonly ModelCase[] = [
  {
    name: "three-starts",
    about: "limit 2, three starts: two get tokens",
    setup: [register({ limit: 2 })],
    callers: [[start(1, 1)], [start(2, 1)], [start(3, 1)]],
    waits,
    isLong: true,
    ends: (end) => heldTokens(end, 2),
  },
  {
    name: "start-x-same-start-x-sweep",
    about: "a start, its repeat by another caller, and a sweep: one execution",
    setup: [register({ limit: 2 })],
    callers: [[start(1, 1)], [start(1, 1)], [sweep]],
    waits: [definitionRow, executionRow],
    readersWait: true,
    isLong: true,
    ends: (end) =>
      end.rows("TaskExecution").length === 1 ? heldTokens(end, 1) : "there is more than one",
  },
  {
    name: "three-starts-and-finishes",
    about: "limit 2, three workers that start and end their stay",
    setup: [register({ limit: 2 })],
    callers: [start(1, 1), start(2, 1), start(3, 1)].map((first) => [
      first,
      {
        kind: "dependent" as const,
        names: ["FinishExecution", "Sweep"],
        make: (answers) => {
          const id = answers[0]?.rows[0]?.["TaskExecutionId"];
          return typeof id === "bigint" || typeof id === "number" ? finish(Number(id)) : sweep;
        },
      },
    ]),
    waits: [definitionRow, executionRow, latch],
    readersWait: true,
    isLong: true,
    ends: (end) => heldTokens(end, 0),
  },
  {
    name: "acquire-x-release-x-set-limit",
    about: "three at one definition's row: an asker, one that gives back, an operator who lowers",
    setup: [register({ limit: 3 }), start(1, 1), start(2, 2)],
    callers: [[acquire(1, 3)], [release(2, 0)], [setLimit(2, 1)]],
    waits,
    isLong: true,
    ends: (end) => heldTokens(end, tokensOf(end.answers[0]?.[0])),
  },
  {
    name: "start-x-reclaim-x-late-heartbeat",
    about: "a lease is over: an asker, a reclaim and the holder's heartbeat",
    setup: [
      register({ limit: 1 }),
      enqueue(plainTasks(1)),
      start(1, 1),
      work({ execution: 1, call: 1, want: 1 }),
      leaseOver,
    ],
    callers: [[start(2, 1)], [reclaim], [heartbeat(1)]],
    waits: [definitionRow, executionRow],
    readersWait: true,
    isLong: true,
  },
];
