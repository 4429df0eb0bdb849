import { isDeepStrictEqual } from "node:util";
import {
  createBatch,
  enqueue,
  explain,
  listAudit,
  listGroups,
  plainTasks,
  promote,
  register,
  start,
  sweep,
  work,
} from "../cases/calls";
import type { BatchCall, Call, ProcedureCall } from "../cases/calls";
import { later, leaseOver } from "../cases/model-case";
import type { SetupStep } from "../cases/model-case";
import { requestOf } from "../cases/requests";
import { shippedWorld } from "../shipped/shipped-world";
import { engines } from "../shipped/engines";
import { SimulationError } from "../../tsql-server/engine/sql-error";
import type { World } from "../../tsql-server/engine/world";
import { runAlone } from "../../tsql-server/schedule/step";
import { CoverageWatch } from "./check";
import type { Check, Noticed } from "./check";
import { setUp } from "./set-up";

/*
 * Calls of more than a thousand entries, which procedures take a thousand at a time: their answers, locks and writes. The
 * contract suite has such calls, too; they are among its slow tests.
 */

interface LargeCall {
  readonly name: string;
  readonly setup: readonly SetupStep[];
  readonly call: Call;
}

const numbers = Array.from({ length: 1_001 }, (_, index) => String(index));

const promoteMany: Call = { ...promote, arguments: { ...promote.arguments, Max: 10_000 } };

const thousandMore: BatchCall = {
  kind: "batch",
  calls: [],
  sql: `INSERT INTO Taskgate.TaskExecution (OperationId, TaskDefinitionId, State, StartedAt, LeaseUntil, Worker)
    SELECT NEWID(), e.TaskDefinitionId, 1, e.StartedAt, e.LeaseUntil, N'w'
    FROM Taskgate.TaskExecution AS e CROSS JOIN Taskgate.Number AS n WHERE n.N <= 1000;`,
};

/** A group's worth of tasks for each of 1,001 groups. */
const inGroups = enqueue(numbers.map((number) => ({ group: `g${number}` })));

const inOneGroup = enqueue(numbers.concat("", "").map(() => ({ group: "g" })));

function withArguments(call: ProcedureCall, changes: ProcedureCall["arguments"]): ProcedureCall {
  return { ...call, arguments: { ...call.arguments, ...changes } };
}

const largeCalls: readonly LargeCall[] = [
  {
    name: "1,001 keys, of which the first is over, and tasks of groups",
    setup: [register(), enqueue([{ dedupeKey: "k0", dedupeMs: 1_000 }]), later(1_001)],
    call: enqueue([
      ...numbers.map((number) => ({ dedupeKey: `k${number}`, dedupeMs: 1_000 })),
      ...["g", "g"].map((group) => ({ group })),
      { group: "later", runInMs: 60_000 },
    ]),
  },
  {
    name: "tasks of 1,001 new groups, and a key",
    setup: [register()],
    call: enqueue([
      { dedupeKey: "k" },
      { group: "g0" },
      { runInMs: 60_000 },
      ...numbers.map((number) => ({ group: `g${number}` })),
    ]),
  },
  {
    name: "1,001 tasks of a wave, one with a key",
    setup: [register(), createBatch(1, 1)],
    call: enqueue([{ dedupeKey: "k" }, ...plainTasks(1_001)], { wave: 1 }),
  },
  {
    name: "a sweep of 1,001 ready tasks",
    setup: [register(), enqueue(plainTasks(1_001))],
    call: sweep,
  },
  {
    name: "a sweep of 1,001 dead executions",
    setup: [register({ limit: 1 }), start(1, 1), thousandMore, leaseOver],
    call: sweep,
  },
  {
    name: "promotion of tasks of 1,001 groups, of which one is full",
    setup: [
      register(),
      enqueue(numbers.map((number) => ({ group: `g${number}`, runInMs: 10 }))),
      enqueue(["g0", "g1000"].map((group) => ({ group }))),
      later(11),
    ],
    call: promoteMany,
  },
  {
    name: "tasks of 1,002 groups, of which the last one is new",
    setup: [register(), inGroups],
    call: enqueue([...numbers, "new"].map((number) => ({ group: `g${number}` }))),
  },
  ...[null, "a"].map((name) => ({
    name: `a list of 1,002 groups with waiting tasks, ${name ?? "of all definitions"}`,
    setup: [register(), inGroups, inGroups, enqueue([{ group: "a" }, { group: "a" }])],
    call: withArguments(listGroups, { Name: name }),
  })),
  {
    name: "a list of a definition's groups behind 1,001 of another one with waiting tasks",
    setup: [
      ...[register(), inGroups, inGroups].map((call) => withArguments(call, { Name: "b" })),
      register(),
      enqueue("cdefghijklmzz".split("").map((group) => ({ group }))),
    ],
    call: withArguments(listGroups, { Name: "a" }),
  },
  {
    name: "the ends of tasks of 1,001 groups in one call",
    setup: [
      register({ prefetchMax: 1_000 }),
      inGroups,
      start(1, 2),
      work({ execution: 1, call: 1, want: 1_000 }),
      work({ execution: 1, call: 2, want: 1 }),
    ],
    call: work({
      execution: 1,
      call: 3,
      done: numbers.map((_, index) => ({ task: index + 1, fence: index < 1_000 ? 1 : 2 })),
    }),
  },
  {
    name: "a list of a group with 1,002 waiting tasks",
    setup: [register(), inOneGroup],
    call: listGroups,
  },
  {
    name: "why the last of 1,003 tasks waits",
    setup: [register(), enqueue(plainTasks(1_003))],
    call: explain(1_003),
  },
  {
    name: "why the last of 1,003 tasks of a group waits",
    setup: [register(), inOneGroup],
    call: explain(1_003),
  },
  {
    name: "who added 1,003 tasks",
    setup: [register(), withArguments(enqueue(plainTasks(1_003)), { ChangedBy: "operator" })],
    call: listAudit,
  },
];

/** What a call tells, and what it costs. */
function effectsOf({ setup, call }: LargeCall, template: World): unknown {
  const connection = setUp(setup, template).connect();
  const { errors, rowSets } = runAlone(connection, requestOf(call));
  const { locks, rowsWritten } = connection.metrics;
  return { errors, rowSets, locks, rowsWritten };
}

/** Large calls as checks of mutants. */
export function largeChecks(): Check[] {
  const shipped = shippedWorld(engines.azure);
  return largeCalls.map((large) => {
    const watch = new CoverageWatch(shipped);
    const known = effectsOf(large, shipped);
    return {
      title: `a large call: ${large.name}`,
      ran: watch.ran(),
      size: numbers.length,
      run: (template) => Promise.resolve(findOther(large, known, template)),
    };
  });
}

function findOther(large: LargeCall, known: unknown, template: World): Noticed | undefined {
  try {
    const found = effectsOf(large, template);
    if (isDeepStrictEqual(found, known)) return undefined;
    return { by: "cost", why: "another answer, or other rows and locks" };
  } catch (error) {
    if (error instanceof SimulationError) return { by: "engine", why: error.message };
    throw error;
  }
}
