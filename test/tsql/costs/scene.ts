import type { TaskId } from "../../../shared/core/ids";
import type { ClaimPlace, Failure } from "../../../shared/ports/task-store";
import { define, enqueue, failure, startWorker } from "../../support/builders";
import type { Worker } from "../../support/builders";
import { loadScript } from "../../tsql-server/engine/load";
import type { World } from "../../tsql-server/engine/world";
import type { Scene } from "./scenario";

/* What scenarios begin with. */

/** A definition without a limit, so many ready tasks, and a worker that may claim all of them. */
export async function startedTasks({ store, name, batch }: Scene): Promise<{
  worker: Worker;
  taskIds: TaskId[];
}> {
  await define(store, { limit: null, prefetchMax: 1000 }, name);
  const taskIds = batch === 0 ? [] : await enqueue(store, name, batch);
  return { worker: await startWorker(store, name), taskIds };
}

/** So many claimed tasks that are about to fail. */
export async function failuresOf(
  scene: Scene,
  as: Failure["as"],
): Promise<{ worker: Worker; failures: Failure[] }> {
  const { worker } = await startedTasks(scene);
  const claimed = await worker.claim(scene.batch);
  return { worker, failures: claimed.map((task) => failure(task, { as })) };
}

/** So many scheduled tasks whose time has come. */
export async function pastDue({ store, world, name, batch }: Scene): Promise<void> {
  await define(store, {}, name);
  const runAt = new Date(world.clock + 60_000);
  await enqueue(
    store,
    name,
    Array.from({ length: batch }, () => ({ runAt })),
  );
  world.clock += 60_000;
}

/** The place of a claimed task, for the scan hint. */
export async function placeOfClaim(worker: Worker): Promise<ClaimPlace> {
  const { last } = await worker.work({ want: 1 });
  if (last === null) throw new Error("Nothing was claimed");
  return last;
}

/** Entries of Ready of definition 1: `before` the tasks of the tests, or behind them. There are no tasks to them. */
export function plantReady(world: World, where: "before" | "behind", count: number): void {
  const priority = where === "before" ? -1000 : 1000;
  loadScript(
    world,
    `INSERT INTO Taskgate.Ready (TaskDefinitionId, Priority, Rank, TaskId, IsSolo)
     SELECT 1, ${priority}, (a.N - 1) * 1000 + b.N, 1000000 + (a.N - 1) * 1000 + b.N, 0
     FROM Taskgate.Number AS a CROSS JOIN Taskgate.Number AS b
     WHERE (a.N - 1) * 1000 + b.N <= ${count};`,
    "planted entries",
  );
}

/** Tasks of definition 1 that were done a while ago. */
export function plantFinished(world: World, count: number): void {
  loadScript(
    world,
    `INSERT INTO Taskgate.Archive (TaskId, TaskDefinitionId, Kind, Priority, Rank, CreatedAt, FinishedAt, PurgeAfter, Build, Outcome, FailedCount, LostCount)
     SELECT (a.N - 1) * 1000 + b.N - 1000000, 1, N'finished', 0, 0, SYSUTCDATETIME(), SYSUTCDATETIME(), DATEADD(DAY, 7, SYSUTCDATETIME()), 1, 10, 0, 0
     FROM Taskgate.Number AS a CROSS JOIN Taskgate.Number AS b
     WHERE (a.N - 1) * 1000 + b.N <= ${count};`,
    "finished tasks",
  );
}

/** Groups of definition 1 that are needed. */
export function plantGroups(world: World, count: number): void {
  loadScript(
    world,
    `INSERT INTO Taskgate.TaskGroup (TaskDefinitionId, GroupKey, Slots)
     SELECT 1, CONCAT(N'planted ', (a.N - 1) * 1000 + b.N), 1
     FROM Taskgate.Number AS a CROSS JOIN Taskgate.Number AS b
     WHERE (a.N - 1) * 1000 + b.N <= ${count};
     INSERT INTO Taskgate.GroupKept (GroupId)
     SELECT g.GroupId FROM Taskgate.TaskGroup AS g WHERE g.GroupKey LIKE N'planted%';`,
    "planted groups",
  );
}

/** Deleted entries of Scheduled of definition 1, whose tasks were promoted a minute ago. */
export function plantPromoted(world: World, count: number): void {
  loadScript(
    world,
    `INSERT INTO Taskgate.Scheduled (TaskDefinitionId, RunAt, TaskId)
     SELECT 1, DATEADD(SECOND, -60, SYSUTCDATETIME()), 1000000 + (a.N - 1) * 1000 + b.N
     FROM Taskgate.Number AS a CROSS JOIN Taskgate.Number AS b
     WHERE (a.N - 1) * 1000 + b.N <= ${count};
     DELETE FROM Taskgate.Scheduled WHERE TaskDefinitionId = 1 AND TaskId > 1000000;`,
    "promoted tasks",
  );
}

/** Deletes them again; only ghosts are left. */
export function deleteReady(world: World): void {
  const text = "DELETE FROM Taskgate.Ready WHERE TaskDefinitionId = 1 AND Priority = -1000;";
  loadScript(world, text, "planted entries");
}
