import type { TaskId } from "../../../shared/core/ids";
import { at, define, enqueue } from "../../support/builders";
import type { World } from "../../tsql-server/engine/world";
import type { Situation } from "./situation";
import { filled, measure } from "./measure";
import { plantReady } from "./scene";
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

/** Tasks that are ready, and as many that wait for one group. */
async function pile({ store, world, name }: Scene, count: number): Promise<TaskId> {
  await define(store, {}, name);
  plantReady(world, "behind", count);
  let first: TaskId | undefined;
  for (let left = count; left > 0; left -= 10_000) {
    const some = Array.from({ length: Math.min(left, 10_000) }, () => ({ group: "g" }));
    first ??= at(await enqueue(store, name, some), 0);
  }
  if (first === undefined) throw new Error("Nothing was enqueued");
  return first;
}

export async function waitingFigures(template: World): Promise<Situation[]> {
  return readBy(
    template,
    {
      ListDefinitions: ({ store, name }) => store.listDefinitions({ name }),
      Sweep: ({ store }) => store.sweep({ max: 100 }),
    },
    { counts: [1_000, 20_000], of: "ready, as many waiting", fill: pile },
  );
}

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
      const { tally } = await measure(world, 1, async (scene) =>
        Promise.resolve(() => run(scene, task)),
      );
      found.push({
        name: `${call}, ${count.toLocaleString("en-US")} ${around.of}`,
        figures: { "rows read": tally.rowsExamined },
      });
    }
  }
  return found;
}
