import { asBatchId, asTaskId } from "../../shared/core/ids";
import type { BatchId, TaskId, WaveId } from "../../shared/core/ids";
import type { NewTask, TaskStore } from "../../shared/ports/task-store";
import { done, operationId, startInput, Worker } from "../support/builders";
import type { Dice } from "../support/dice";

/*
 * The actors of a drill: each draws one thing to do, does it, and comes again. All meet on a few rows: two definitions, six
 * groups, twenty keys. Answers such as `busy`, `late` and `fenced` are part of it; what throws ends the drill.
 */

/** Where they all meet. */
export interface DrillGround {
  readonly names: readonly string[];
  /** Tasks so far, the last thousand. */
  readonly ids: TaskId[];
  readonly batches: BatchId[];
  readonly openWaves: WaveId[];
  /** The events that really happened, and how often. */
  readonly seen: Map<string, number>;
  /** Moves the database's clock. */
  readonly advance: (ms: number) => Promise<void>;
}

/** One turn. */
export type Turn = (store: TaskStore, ground: DrillGround, dice: Dice) => Promise<void>;

const idsKept = 1_000;

function note(ground: DrillGround, what: string, times = 1): void {
  if (times > 0) ground.seen.set(what, (ground.seen.get(what) ?? 0) + times);
}

function keep(ground: DrillGround, ids: readonly TaskId[]): void {
  ground.ids.push(...ids);
  ground.ids.splice(0, Math.max(0, ground.ids.length - idsKept));
}

function randomTask(dice: Dice, isBlocked: boolean): NewTask {
  return {
    payload: null,
    priority: dice.below(3),
    ...(dice.below(3) > 0 ? { group: `g${String(dice.below(6))}` } : {}),
    ...(dice.oneIn(4) ? { groupScope: "global" } : {}),
    ...(dice.oneIn(3) ? { dedupeKey: `k${String(dice.below(20))}` } : {}),
    ...(dice.oneIn(9) ? { dedupeMs: 100 } : {}),
    ...(!isBlocked && dice.oneIn(4) ? { runInMs: dice.below(50) } : {}),
  };
}

const randomTasks = (dice: Dice, max: number, isBlocked = false): NewTask[] =>
  Array.from({ length: 1 + dice.below(max) }, () => randomTask(dice, isBlocked));

/** An execution: claims, ends in every way, children in a transaction, and now and then death. */
export const work: Turn = async (store, ground, dice) => {
  const name = dice.pick(ground.names);
  const answer = await store.startExecution(startInput(name, { want: 1 + dice.below(3) }));
  if (answer.deadHolders > 0) note(ground, "dead holders");
  if (answer.executionId === null) return;
  const worker = new Worker(store, answer.executionId, answer);
  let { claimed } = await worker.work({ want: 1 + dice.below(5) });
  for (let calls = dice.below(4); calls > 0 && claimed.length > 0; calls -= 1) {
    if (dice.oneIn(20)) return;
    if (dice.oneIn(3)) await worker.beat();
    const [first, ...rest] = claimed;
    if (first !== undefined && dice.oneIn(4)) {
      await store.transaction(async (transaction) => {
        const child = { name, build: 1, operationId: null, tasks: randomTasks(dice, 3) };
        await store.enqueueTasks(child, transaction);
        const { executionId } = worker;
        await store.completeTask({ executionId, ...done(first) }, transaction);
      });
      note(ground, "completed in a transaction");
      claimed = rest;
    }
    const failing = claimed.filter((task) => task.isCancelRequested || dice.oneIn(4));
    if (failing.length > 0) {
      const as = dice.pick(["dead", "failed", "failed", "continued"] as const);
      const { results } = await worker.fail(failing, { as, retryInMs: dice.below(20) });
      for (const { outcome } of results) note(ground, outcome);
    }
    const ended = claimed.filter((task) => !failing.includes(task));
    const next = await worker.complete(ended, 1 + dice.below(4));
    note(ground, "done", ended.length - next.refused.length);
    for (const batchId of next.opening) await store.pumpBatch({ batchId, max: 20 });
    claimed = next.claimed;
  }
  await worker.finish();
};

/** Tokens come and go without tasks. */
export const juggleTokens: Turn = async (store, ground, dice) => {
  const { executionId } = await store.startExecution(startInput(dice.pick(ground.names)));
  if (executionId === null) return;
  const { granted } = await store.acquireTokens({ executionId, want: 1 + dice.below(4) });
  note(ground, "acquired", granted);
  if (dice.oneIn(2)) await store.releaseSurplus({ executionId, keep: 0 });
  await store.releaseTokens({ executionId, keep: dice.below(2) });
  if (!dice.oneIn(8)) await store.finishExecution({ executionId });
};

export const add: Turn = async (store, ground, dice) => {
  const name = dice.pick(ground.names);
  const tasks = randomTasks(dice, 8);
  const answer = await store.enqueueTasks({ name, build: 1, operationId: operationId(), tasks });
  keep(ground, answer.taskIds);
};

/** A user's transaction that has enqueued into two groups, and takes its time. */
export const addSlowly: Turn = async (store, ground, dice) => {
  const name = dice.pick(ground.names);
  const tasks = ["g0", "g1", `new-${String(dice.below(1_000_000))}`].map((group) => ({
    payload: null,
    group,
  }));
  await store.transaction(async (transaction) => {
    const input = { name, build: 1, operationId: null, tasks };
    const { taskIds } = await store.enqueueTasks(input, transaction);
    await new Promise((resolve) => setTimeout(resolve, dice.below(40)));
    keep(ground, taskIds);
  });
  note(ground, "slow transaction");
};

/** What operators do with tasks, groups and limits. */
export const operate: Turn = async (store, ground, dice) => {
  const name = dice.pick(ground.names);
  const taskIds = dice.few(ground.ids, 8);
  const by = { name, changedBy: "a drill" };
  const turns: (() => Promise<unknown>)[] = [
    () => store.redriveTasks({ name, outcome: "dead", max: 5 }),
    () => store.setLimit({ ...by, operationId: operationId(), limit: dice.pick([2, 4, 6, null]) }),
    async () => {
      await store.pauseDefinition(by);
      await store.resumeDefinition(by);
    },
    () =>
      store.setGroup({
        ...by,
        groupKey: `g${String(dice.below(6))}`,
        groupScope: dice.pick(["definition", "global"]),
        slots: 1 + dice.below(3),
        paused: dice.oneIn(4),
      }),
  ];
  if (taskIds.length > 0) {
    turns.push(
      async () => {
        const { results } = await store.cancelTasks({ taskIds, reason: "a drill" });
        for (const { outcome } of results) note(ground, outcome);
      },
      async () => {
        const { results } = await store.redriveTasks({ taskIds });
        for (const { outcome } of results) note(ground, outcome);
      },
      () => store.rescheduleTasks({ taskIds, to: { runInMs: dice.below(30) } }),
    );
  }
  await dice.pick(turns)();
};

/** Batches are made, filled, started, resumed, cancelled. */
export const batch: Turn = async (store, ground, dice) => {
  const batchId = ground.batches.length === 0 ? null : dice.pick(ground.batches.slice(-4));
  const turn = batchId === null ? 0 : dice.below(5);
  if (turn === 0 || batchId === null) {
    const failurePolicy = dice.pick(["halt", "continue", "cancel"] as const);
    const waves = 1 + dice.below(3);
    const input = { operationId: operationId(), name: "a drill", failurePolicy, waves };
    const made = await store.createBatch(input);
    for (const waveId of made.waveIds) {
      const name = dice.pick(ground.names);
      const tasks = randomTasks(dice, 6, true);
      const filling = { name, build: 1, operationId: operationId(), tasks, waveId };
      const { taskIds } = await store.enqueueTasks(filling);
      keep(ground, taskIds);
    }
    ground.openWaves.push(...made.waveIds);
    ground.openWaves.splice(0, Math.max(0, ground.openWaves.length - 12));
    await store.startBatch({ batchId: made.batchId, seal: dice.oneIn(2) });
    ground.batches.push(made.batchId);
  } else if (turn === 1) {
    const waveId = dice.pick(ground.openWaves);
    const name = dice.pick(ground.names);
    const tasks = randomTasks(dice, 3, true);
    const late = { name, build: 1, operationId: operationId(), tasks, waveId };
    note(ground, (await store.enqueueTasks(late)).status);
  } else if (turn === 2) await store.pumpBatch({ batchId, max: 5 });
  else if (turn === 3) await store.resumeBatch({ batchId });
  else if (dice.oneIn(3)) {
    const { tasks } = await store.cancelBatch({ batchId });
    if (tasks.length > 0) await store.cancelTasks({ taskIds: tasks.map(asTaskId) });
    await store.pumpBatch({ batchId, max: 20 });
  }
};

/** What the timer does, and time itself. */
export const keepHouse: Turn = async (store, ground, dice) => {
  const swept = await store.sweep({ max: 10 });
  note(ground, "swept");
  for (const text of swept.opening) await store.pumpBatch({ batchId: asBatchId(text), max: 20 });
  const { executions } = await store.reclaimExpired({ max: 10 });
  note(ground, "reclaimed", executions);
  for (const name of ground.names) await store.promoteScheduled({ name, max: 20 });
  note(ground, "purged", (await store.purge({ max: 50 })).purged);
  if (dice.oneIn(3)) await ground.advance(400);
};

/** What people look at. */
export const look: Turn = async (store, ground, dice) => {
  const [taskId] = dice.few(ground.ids, 1);
  if (taskId !== undefined) await store.explainTask({ taskId });
  await store.listDefinitions({});
  await store.listGroups({ max: 10 });
  await store.listSharedLimits({ max: 5 });
  await store.listApps();
  await store.listBatches({ max: 5 });
  await store.listTasks({ name: dice.pick(ground.names), state: "ready", max: 10 });
};
