import type { TaskId } from "../../shared/core/ids";
import type { ListTasksInput, TaskStore } from "../../shared/ports/task-store";

/** Pages that one list may have in a test. */
const pagesMax = 100;

/** The ids of all pages, in order. `between` is called after each page but the last, with the ids so far. */
export async function allPages(
  store: TaskStore,
  input: ListTasksInput,
  between: (listed: readonly TaskId[]) => Promise<void> = () => Promise.resolve(),
): Promise<TaskId[]> {
  const listed: TaskId[] = [];
  let after: string | null = null;
  for (let page = 0; page < pagesMax; page += 1) {
    const { tasks, next } = await store.listTasks({
      ...input,
      ...(after === null ? {} : { after }),
    });
    listed.push(...tasks.map(({ task }) => task));
    if (next === null) return listed;
    after = next;
    await between(listed);
  }
  throw new Error(`The list has more than ${String(pagesMax)} pages`);
}
