import type { TaskId } from "../../../shared/core/ids";
import type { JsonObject } from "../../../shared/core/json";
import type { Check, PromiseName, World } from "../watch";

/** Calls between two looks at everything. */
const lookEvery = 100;

/**
 * Nothing lost: an acknowledged task is in one place, and ends once. Once: a repeated call has no second effect: each
 * task carries a key that only one may have.
 */
export function checkNothingLost(world: World): Check {
  const ended = new Map<TaskId, string>();
  let calls = 0;
  const look = async (): Promise<void> => {
    const { findings } = await world.database.memory.checkInvariants();
    for (const finding of findings)
      world.violate(promiseOf(finding.rule), `${finding.rule} ${finding.key}: ${finding.detail}`);
    const { tasks, archive } = world.database.rows;
    for (const taskId of world.promised)
      if (!tasks.has(taskId) && !archive.has(taskId))
        world.violate("nothing lost", `task ${taskId} was enqueued and is nowhere`);
    for (const [taskId, row] of archive) {
      const how = `${row.outcome} by execution ${row.executionId} under fence ${row.fence}`;
      const before = ended.get(taskId);
      if (before !== undefined && before !== how)
        world.violate("nothing lost", `task ${taskId} ended twice: ${before}, then ${how}`);
      ended.set(taskId, how);
    }
  };
  return {
    setBack: () => {
      ended.clear();
    },
    after: () => {
      calls += 1;
      if (calls % lookEvery === 0) void look();
    },
    settled: () => {
      void look();
      const { tasks, archive } = world.database.rows;
      for (const task of tasks.values())
        world.violate("nothing lost", `task ${task.taskId} of kind ${task.kind} has not ended`);
      const first = new Map<string, TaskId>();
      for (const { task } of archive.values()) {
        const { key } = JSON.parse(task.payload ?? "{}") as JsonObject & { key?: string };
        if (key === undefined) continue;
        const other = first.get(key);
        if (other !== undefined)
          world.violate(
            "once",
            `${key} was enqueued once and is there as tasks ${other} and ${task.taskId}`,
          );
        first.set(key, task.taskId);
      }
      checkChildren(world, first);
    },
  };
}

/** The child of a task that is done exists; of one that gave up or died it doesn't. */
function checkChildren(world: World, byKey: ReadonlyMap<string, TaskId>): void {
  for (const { task, outcome } of world.database.rows.archive.values()) {
    if (task.kind !== "parent") continue;
    const { key = "" } = JSON.parse(task.payload ?? "{}") as { key?: string };
    const hasChild = byKey.has(`child of ${key}`);
    if (hasChild !== (outcome === "done"))
      world.violate("once", `${key} is ${outcome} and has ${hasChild ? "a" : "no"} child`);
  }
}

function promiseOf(rule: string): PromiseName {
  const name = /^P(?:[1-9]|1[0-2])\b/.exec(rule)?.[0];
  return (name as PromiseName | undefined) ?? "nothing lost";
}

/** Stale work returns: a tick finds a dead worker's tasks, also when the next tick's host dies or stands still. */
export function checkStale(world: World): Check {
  const slackMs = 3 * world.tickMs;
  const seen = new Set<string>();
  return {
    after: () => {
      for (const row of world.database.rows.executions.values()) {
        if (row.state !== "live" && row.state !== "dead") continue;
        const lateMs = world.database.nowMs - row.leaseUntilMs;
        if (row.claims.length === 0 || lateMs <= slackMs || seen.has(row.executionId)) continue;
        seen.add(row.executionId);
        world.violate(
          "stale work returns",
          `execution ${row.executionId} of ${row.worker} holds ${String(row.claims.length)} tasks, ${String(lateMs)} ms after its lease`,
        );
      }
    },
  };
}
