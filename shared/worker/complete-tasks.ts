import { InvalidArgumentError } from "../core/errors";
import { completeTask } from "../enqueue/complete-task";
import type { NewTask } from "../ports/task-store";
import { checkKnownKind } from "./known-kind";
import type { Registry } from "./registry";
import { validate } from "./standard-schema";

/**
 * Does for tasks that come by HTTP or the command line what the client does for those of TypeScript: adds what the code says
 * of their kinds. Nobody's compiler has seen these payloads, so their schemas are asked, too: what a worker would only
 * refuse later is refused here. So is a kind that this build doesn't have, unless `allowsUnknownKind`. Throws InvalidArgumentError naming the task and the problems.
 */
export async function completeTasks(
  registry: Registry,
  call: { readonly definition: string; readonly allowsUnknownKind?: boolean | undefined },
  tasks: readonly NewTask[],
): Promise<readonly NewTask[]> {
  const { definition, allowsUnknownKind = false } = call;
  const completed: NewTask[] = [];
  for (const [index, task] of tasks.entries()) {
    const kind = registry.kind(task.kind ?? definition);
    const at = tasks.length === 1 ? "" : `tasks[${String(index)}].`;
    if (!allowsUnknownKind)
      checkKnownKind(registry, { definition, kind: task.kind ?? definition, at });
    if (kind?.schema != null) {
      const payload: unknown = task.payload === null ? null : JSON.parse(task.payload);
      const checked = await validate(kind.schema, payload);
      if (!checked.ok) {
        throw new InvalidArgumentError(
          `${at}payload: expected what kind ${kind.kind} takes (${checked.problems.join("; ")})`,
          { details: { field: `${at}payload` } },
        );
      }
    }
    completed.push(completeTask(task, kind, { isHeld: false }));
  }
  return completed;
}
