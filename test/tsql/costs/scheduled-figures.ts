import type { TaskId } from "../../../shared/core/ids";
import { at, define, enqueue, startInput, startWorker } from "../../support/builders";
import type { World } from "../../tsql-server/engine/world";
import type { Situation } from "./situation";
import { filled, measure } from "./measure";
import { deleteReady, plantPromoted, plantReady } from "./scene";
import type { Scene } from "./scenario";

/* What calls read when much is scheduled, or waits. */

/** Tasks of a definition that are all scheduled, those of the same minute behind each other; the last one has a key. */
async function schedule({ store, world, name }: Scene, count: number): Promise<TaskId> {
  await define(store, {}, name);
  const tasks = Array.from({ length: count - 1 }, (_, index) => ({
    runAt: new Date(world.clock + 60_000 + index),
  }));
  await enqueue(store, name, tasks);
  const last = { runInMs: 120_000, dedupeKey: "key", payload: "{}" };
  return at(await enqueue(store, name, [last]), 0);
}

/** One scheduled task among so many. */
export async function scheduleFigures(template: World): Promise<Situation[]> {
  const calls: Readonly<Record<string, (scene: Scene, taskId: TaskId) => Promise<unknown>>> = {
    "EnqueueTasks, debounced": ({ store, name }) => {
      const again = { runInMs: 120_000, dedupeKey: "key", onDuplicate: "replace" as const };
      return enqueue(store, name, [{ ...again, payload: "[]" }]);
    },
    ExplainTask: ({ store }, taskId) => store.explainTask({ taskId }),
    CancelTasks: ({ store }, taskId) => store.cancelTasks({ taskIds: [taskId] }),
    RescheduleTasks: ({ store }, taskId) =>
      store.rescheduleTasks({ taskIds: [taskId], to: { runInMs: 180_000 } }),
  };
  return readBy(template, calls, {
    counts: [100, 10_000],
    of: "scheduled",
    fill: schedule,
  });
}

/** Tasks that are ready behind as many that were claimed, and as many that wait for one group. */
async function pile({ store, world, name }: Scene, count: number): Promise<TaskId> {
  await define(store, {}, name);
  plantReady(world, "before", count);
  deleteReady(world);
  plantReady(world, "behind", count);
  let first: TaskId | undefined;
  for (let left = count; left > 0; left -= 10_000) {
    const some = Array.from({ length: Math.min(left, 10_000) }, () => ({ group: "g" }));
    first ??= at(await enqueue(store, name, some), 0);
  }
  if (first === undefined) throw new Error("Nothing was enqueued");
  return first;
}

export async function waitingFigures(
  template: World,
  counts = [1_000, 20_000],
): Promise<Situation[]> {
  return readBy(
    template,
    {
      ListDefinitions: ({ store, name }) => store.listDefinitions({ name }),
      Sweep: ({ store }) => store.sweep({ max: 100 }),
    },
    { counts, of: "ready, as many waiting", fill: pile },
  );
}

const hour = 3_600_000;

/** Calls beside one task that is due in an hour, behind the deleted entries of promoted ones. */
export async function promotedFigures(
  template: World,
  counts = [100, 5_000],
): Promise<Situation[]> {
  const found: Situation[] = [];
  for (const [call, prepare] of Object.entries(callsBehindPromoted)) {
    for (const count of counts) {
      const world = template.fork();
      plantPromoted(world, count);
      const { ghosts } = await measure(world, 1, prepare);
      const promoted = `${count.toLocaleString("en-US")} promoted`;
      found.push({ name: `${call}, behind ${promoted}`, figures: { ghosts } });
    }
  }
  return found;
}

const callsBehindPromoted: Readonly<
  Record<string, (scene: Scene) => Promise<() => Promise<unknown>>>
> = {
  "Work with the scan hint, the last ready task is claimed": async ({ store, name }) => {
    await define(store, {}, name);
    await enqueue(store, name, [{}, {}, { runInMs: hour }]);
    const worker = await startWorker(store, name, { want: 4 });
    const { last } = await worker.work({ want: 1 });
    return () => worker.work({ want: 4, ...(last === null ? {} : { after: last }) });
  },
  "Work, nothing is ready": async ({ store, name }) => {
    await define(store, {}, name);
    await enqueue(store, name, [{ runInMs: hour }]);
    const worker = await startWorker(store, name);
    return () => worker.work({ want: 1 });
  },
  "StartExecution, nothing is ready": async ({ store, name }) => {
    await define(store, {}, name);
    await enqueue(store, name, [{ runInMs: hour }]);
    return () => store.startExecution(startInput(name, { needsReady: true }));
  },
  "EnqueueTasks into a strict group, another task is due": async ({ store, world, name }) => {
    await define(store, { groupStrict: true }, name);
    await enqueue(store, name, [{ runInMs: 1_000 }, { runInMs: hour }]);
    world.clock += 1_000;
    return () => enqueue(store, name, [{ group: "g" }]);
  },
  "EnqueueTasks into a strict group, nothing is due": async ({ store, name }) => {
    await define(store, { groupStrict: true }, name);
    await enqueue(store, name, [{ runInMs: hour }]);
    return () => enqueue(store, name, [{ group: "g" }]);
  },
};

async function readBy(
  template: World,
  calls: Readonly<Record<string, (scene: Scene, taskId: TaskId) => Promise<unknown>>>,
  around: {
    readonly counts: readonly number[];
    readonly of: string;
    readonly fill: (scene: Scene, count: number) => Promise<TaskId>;
  },
): Promise<Situation[]> {
  const found: Situation[] = [];
  for (const count of around.counts) {
    let taskId: TaskId | undefined;
    const world = await filled(template, async (scene) => {
      taskId = await around.fill(scene, count);
    });
    if (taskId === undefined) throw new Error("Nothing was enqueued");
    const task = taskId;
    for (const [call, run] of Object.entries(calls)) {
      const { tally, ghosts } = await measure(world, 1, async (scene) =>
        Promise.resolve(() => run(scene, task)),
      );
      found.push({
        name: `${call}, ${count.toLocaleString("en-US")} ${around.of}`,
        figures: { "rows read": tally.rowsExamined, ghosts },
      });
    }
  }
  return found;
}
