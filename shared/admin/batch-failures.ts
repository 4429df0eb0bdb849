import type { BatchId, TaskId } from "../core/ids";
import type {
  EqualFailures,
  ListFailuresAnswer,
  TaskListEntry,
  TaskStore,
} from "../ports/task-store";
import { listMax } from "./listing";

/** The dead tasks of one batch, over all definitions: a batch names none, and its tasks may be of several. */

/** Dead tasks that are looked at, and those of the batch that are told. */
const readMax = { lookedAt: 50_000, found: 5_000 } as const;

/** As the store's own list of failures, of one batch. Reads the dead tasks of each definition that has some; with `name` of that one. */
export async function listBatchFailures(
  store: TaskStore,
  { batchId, name }: { readonly batchId: BatchId; readonly name: string | undefined },
): Promise<ListFailuresAnswer> {
  const failures = new Map<string, Growing>();
  let [lookedAt, found, isWhole] = [0, 0, true];
  for (const definition of await definitionsWithDead(store, name)) {
    let after: string | null = null;
    do {
      if (lookedAt >= readMax.lookedAt || found >= readMax.found) {
        isWhole = false;
        break;
      }
      const from: { after?: string } = after === null ? {} : { after };
      const request = { name: definition, state: "dead", batchId, max: listMax, ...from } as const;
      const page = await store.listTasks(request);
      for (const task of page.tasks) add(failures, definition, task);
      lookedAt += page.lookedAt;
      found += page.tasks.length;
      after = page.next;
    } while (after !== null);
  }
  return { lookedAt, isWhole, failures: [...failures.values()] };
}

/** Throws InvalidArgumentError (unknown) for a name that isn't there: its list of tasks does. */
async function definitionsWithDead(store: TaskStore, name: string | undefined): Promise<string[]> {
  if (name !== undefined) return [name];
  const { definitions } = await store.listDefinitions({});
  return definitions.filter(({ dead }) => dead > 0).map((definition) => definition.name);
}

/** Of equal failures, with room for more. */
type Growing = EqualFailures & { firstAt: string; count: number; readonly taskIds: TaskId[] };

/** The newest come first, so each further one is the first by now. */
function add(failures: Map<string, Growing>, definition: string, task: TaskListEntry): void {
  const { kind, error, task: taskId, endedAt } = task;
  const at = endedAt ?? task.createdAt;
  const id = JSON.stringify([definition, kind, error]);
  const known = failures.get(id);
  if (known === undefined) {
    const times = { firstAt: at, lastAt: at };
    failures.set(id, { definition, kind, error, ...times, count: 1, taskIds: [taskId] });
    return;
  }
  known.firstAt = at;
  known.count += 1;
  known.taskIds.push(taskId);
}
