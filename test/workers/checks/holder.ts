import { executionNumber } from "../../../shared/core/ids";
import type { ExecutionNumber, Fence, TaskId } from "../../../shared/core/ids";
import type { CompleteTaskInput, TaskStore, WorkInput } from "../../../shared/ports/task-store";
import type { StatementCall } from "../database";
import { isLeaseLive } from "../watch";
import type { Check, World } from "../watch";

interface Named {
  readonly taskId: TaskId;
  readonly fence: Fence;
}

/** One holder: only the holder runs a task; a stale holder changes nothing. Clock: nothing starts after the lease. */
export function checkHolder(world: World): Check {
  let strangers: { taskId: TaskId; by: ExecutionNumber }[] = [];
  return {
    begin: (run) => {
      if (world.isSettingBack || (world.losesCommits && run.executionId === null)) return;
      if (run.executionId === null) {
        world.violate(
          "one holder",
          `${run.host.name} began task ${run.taskId}, which it doesn't hold`,
        );
        return;
      }
      if (!isLeaseLive(world, run.executionId))
        world.violate(
          "clock",
          `${run.host.name} began task ${run.taskId} after its lease had ended by the database's clock`,
        );
      const other = [...world.runs].find(
        (candidate) =>
          candidate !== run &&
          candidate.taskId === run.taskId &&
          isLeaseLive(world, candidate.executionId),
      );
      if (other !== undefined)
        world.violate(
          "one holder",
          `task ${run.taskId} runs on ${run.host.name} and ${other.host.name}`,
        );
    },
    before: (call) => {
      const { executions, archive } = world.database.rows;
      const told = toldBy(call);
      const claims = told === null ? [] : (executions.get(told.by)?.claims ?? []);
      strangers = (told?.tasks ?? [])
        .filter((task) => !archive.has(task.taskId))
        .filter(
          (task) =>
            !claims.some((claim) => claim.taskId === task.taskId && claim.fence === task.fence),
        )
        .map(({ taskId }) => ({ taskId, by: told?.by as ExecutionNumber }));
    },
    after: () => {
      for (const { taskId, by } of strangers)
        if (world.database.rows.archive.has(taskId))
          world.violate(
            "one holder",
            `execution ${by} ended task ${taskId}, which it doesn't hold`,
          );
      strangers = [];
    },
  };
}

/** Tasks whose end a call tells. */
function toldBy(call: StatementCall): { by: ExecutionNumber; tasks: readonly Named[] } | null {
  if (call.within !== undefined) return null;
  if (call.operation === "work") {
    const input = call.input as WorkInput;
    return { by: executionNumber(input.executionId), tasks: input.done };
  }
  if (call.operation === "failTasks") {
    const input = call.input as Parameters<TaskStore["failTasks"]>[0];
    return { by: executionNumber(input.executionId), tasks: input.failures };
  }
  if (call.operation === "completeTask") {
    const input = call.input as CompleteTaskInput;
    return { by: executionNumber(input.executionId), tasks: [input] };
  }
  return null;
}
