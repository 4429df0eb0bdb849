import {
  cancel,
  checkInvariants,
  complete,
  enqueue,
  explain,
  fail,
  finish,
  listAudit,
  listDefinitions,
  listExecutions,
  listFailures,
  listStopped,
  listTasks,
  plainTasks,
  promote,
  readLog,
  readPace,
  readStatistics,
  reclaim,
  register,
  searchTasks,
  setLimit,
  start,
  sweep,
  work,
} from "../calls";
import type { Call } from "../calls";
import { isAny, statusOf } from "../endings";
import { later, leaseOver } from "../model-case";
import type { Ending, ModelCase, SetupStep } from "../model-case";

/** Task 1 of group g runs under fence 1, 2 waits for it, 3 is ready, 4 is scheduled and due. */
const busy: readonly SetupStep[] = [
  register({ limit: 3 }),
  enqueue([{ group: "g" }, { group: "g" }, {}, { runInMs: 10 }]),
  start(1, 1),
  work({ execution: 1, call: 1, want: 1 }),
  later(11),
];

const readers: readonly {
  readonly name: string;
  readonly calls: readonly Call[];
  readonly ends?: (end: Ending) => string | undefined;
}[] = [
  {
    name: "explain",
    calls: [explain(1)],
    ends: ({ answers }) => isAny(answers[0]?.[0], "found", "moving"),
  },
  { name: "explain-waiting", calls: [explain(2)] },
  { name: "list-definitions", calls: [listDefinitions] },
  { name: "list-executions", calls: [listExecutions] },
  { name: "list-tasks", calls: [listTasks("claimed"), listTasks("ready")] },
  { name: "list-finished-tasks", calls: [listTasks("done")] },
  { name: "search-tasks", calls: [searchTasks("waiting"), searchTasks("dead")] },
  {
    name: "check",
    calls: [checkInvariants],
    // One statement, as of one moment: with row versions it never sees a move half done.
    ends: ({ answers, engine }) =>
      engine === "locking" || statusOf(answers[0]?.[0]) === "sound"
        ? undefined
        : "the check finds what isn't there",
  },
  { name: "list-audit", calls: [listAudit] },
  { name: "list-failures", calls: [listFailures] },
  { name: "list-stopped", calls: [listStopped] },
  { name: "read-pace", calls: [readPace] },
  { name: "read-statistics", calls: [readStatistics] },
  { name: "sweep", calls: [sweep] },
  { name: "log", calls: [readLog] },
];

const writers: readonly {
  readonly name: string;
  readonly setup: readonly SetupStep[];
  readonly call: Call;
}[] = [
  {
    name: "work",
    setup: busy,
    call: work({ execution: 1, call: 2, want: 1, done: [{ task: 1, fence: 1 }] }),
  },
  { name: "complete", setup: busy, call: complete(1, { task: 1, fence: 1 }) },
  { name: "fail", setup: busy, call: fail(1, { task: 1, fence: 1, retryInMs: 5 }) },
  { name: "reclaim", setup: [...busy, leaseOver], call: reclaim },
  { name: "finish", setup: busy, call: finish(1) },
  { name: "start", setup: busy, call: start(2, 1) },
  { name: "enqueue", setup: busy, call: enqueue([{ group: "g" }, ...plainTasks(1)]) },
  { name: "promote", setup: busy, call: promote },
  { name: "set-limit", setup: busy, call: setLimit(-1, 1) },
  { name: "cancel", setup: busy, call: cancel(2, 3) },
];

/** Every reader against every writer: with row versions no reader waits; without them none waits in a circle. */
export const readerCases: readonly ModelCase[] = readers.flatMap((reader) =>
  writers.map((writer): ModelCase => ({
    name: `${reader.name}-x-${writer.name}`,
    about: `somebody looks (${reader.name}) while somebody changes (${writer.name})`,
    setup: writer.setup,
    callers: [reader.calls, [writer.call]],
    readersWait: true,
    victims: [0],
    ...(reader.ends === undefined ? {} : { ends: reader.ends }),
    // Readers don't lock with row versions, in any variant of the engine; the check reads everything.
    isLong: reader.name === "check" ? ["locking", "versioned"] : ["versioned"],
  })),
);
