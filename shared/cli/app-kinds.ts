import { existsSync } from "node:fs";
import { join } from "node:path";
import type { NewTask } from "../ports/task-store";
import { completeTasks } from "../worker/client/complete-tasks";
import { createRegistry } from "../worker/define/registry";
import type { AnyTaskKind } from "../worker/define/task-kind";

/** The kinds of the app that this command line was built with. */
const tasksFile = join(__dirname, "../../functions/tasks/index.js");

/**
 * What the app's code says of its kinds, where the app is there: the command line may be installed without it. Then the
 * database adds what it knows, and refuses what only the code can tell.
 */
export async function completeByApp(
  call: { readonly definition: string; readonly allowsUnknownKind?: boolean | undefined },
  tasks: readonly NewTask[],
): Promise<readonly NewTask[]> {
  if (!existsSync(tasksFile)) return tasks;
  const app = (await import(tasksFile)) as { tasks: readonly AnyTaskKind[] };
  return completeTasks(createRegistry(app.tasks), call, tasks);
}
