import type { DefinitionStatus, TaskStore } from "../../shared/ports/task-store";
import { operatorOperations } from "../../shared/store/missing-right";
import type { OperationName } from "../../shared/store/operations";
import { at, define, done, enqueue, operationId, startWorker, statusOf } from "../support/builders";
import type { CallRecord } from "../support/call-record";
import { callExample, makeExampleRows } from "../support/example-input";
import { loginNames } from "../support/roles";

type OperatorCall = (store: TaskStore, name: string) => Promise<unknown>;

const changedBy = "me";
const ownCalls: Readonly<Partial<Record<OperationName, OperatorCall>>> = {
  setLimit: (store, name) =>
    store.setLimit({ name, limit: 1, operationId: operationId(), changedBy }),
  setRate: (store, name) => store.setRate({ name, rate: "code", changedBy }),
  setSharedLimit: (store, name) =>
    store.setSharedLimit({ name, limit: 1, operationId: operationId(), changedBy }),
  setDefinitionOwner: (store, name) => store.setDefinitionOwner({ name, app: "a", changedBy }),
  pauseDefinition: (store, name) => store.pauseDefinition({ name, changedBy }),
  resumeDefinition: (store, name) => store.resumeDefinition({ name, changedBy }),
  resumeBatch: (store, name) => batchOf(store, name).then((batch) => store.resumeBatch(batch)),
  cancelBatch: (store, name) => batchOf(store, name).then((batch) => store.cancelBatch(batch)),
  checkInvariants: (store) => store.checkInvariants(),
  cancelTasks: async (store, name) => store.cancelTasks({ taskIds: await enqueue(store, name, 1) }),
  redriveTasks: (store, name) => store.redriveTasks({ name, kind: name, outcome: "dead", max: 1 }),
  rescheduleTasks: async (store, name) =>
    store.rescheduleTasks({ taskIds: await enqueue(store, name, 1), to: { runInMs: 1 } }),
  setGroup: (store, name) =>
    store.setGroup({ name, groupKey: "g", groupScope: "definition", slots: 1, changedBy }),
  setSchedulePaused: async (store, name) => {
    const schedule = { name: "s", kind: name, cron: "@daily", timeZone: "UTC" };
    const more = { missed: "once", payload: null, group: null, nextRunAt: null } as const;
    const schedules = [{ ...schedule, ...more }];
    await store.setSchedules({ name, build: 1, changedBy, schedules });
    const input = { name, schedule: "s", nextRunAt: null, changedBy };
    return store.setSchedulePaused({ ...input, paused: true });
  },
  setStop: (store) => store.setStop({ isOn: false, changedBy }),
  setWatermark: (store, name) => {
    const change = { changedBy, operationId: operationId() };
    return store.setWatermark({ name, watermark: "w", value: "[1]", ...change });
  },
};

/** Each operation of operators, with input that nothing is wrong with: its own here, or its example. */
export const operatorCalls: Readonly<Record<string, OperatorCall>> = Object.fromEntries(
  operatorOperations.map((operation) => [operation, ownCalls[operation] ?? exampleOf(operation)]),
);

function exampleOf(operation: OperationName): OperatorCall {
  return async (store) => callExample(store, operation, await makeExampleRows(store));
}

/** Rows of workers are made by the caller. */
async function batchOf(store: TaskStore, name: string) {
  const input = { operationId: operationId(), name, failurePolicy: "halt", waves: 1 } as const;
  const { batchId } = await store.createBatch(input);
  return { batchId };
}

/** An execution in short; what became of its definition. */
export async function doSomeWork(store: TaskStore): Promise<DefinitionStatus> {
  const name = await define(store, { limit: 2 });
  await enqueue(store, name, [{ group: "g" }, { runInMs: 60_000 }, { dedupeKey: "k" }]);
  const worker = await startWorker(store, name, { want: 2 });
  const claimed = await worker.claim(2);
  await worker.complete(claimed.slice(0, 1));
  const last = { executionId: worker.executionId, ...done(at(claimed, 1)) };
  await store.transaction((transaction) => store.completeTask(last, transaction));
  await worker.finish();
  return statusOf(store, name);
}

/** Operations that another login than the tests' called: each would have proved nothing about rights. */
export function callsOfOthers(record: CallRecord): [user: string, calls: OperationName[]][] {
  const others = record.users.filter((user) => !Object.values(loginNames).includes(user));
  return others.map((user) => [user, record.callsOf(user)]);
}
