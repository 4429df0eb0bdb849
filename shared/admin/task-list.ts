import { limits } from "../core/limits";
import type { TaskId } from "../core/ids";
import type {
  ListableState,
  ListTasksAnswer,
  ListTasksInput,
  TaskFilter,
  TaskListEntry,
  TaskStore,
} from "../ports/task-store";
import type { OfDefinition } from "./admin-tools";
import { listableStates } from "../core/listable-states";
import type { ListTasksRequest } from "./task-list-request";

/** Lists of tasks: state by state, each from where the last page stopped. */

/** Where the next page begins. */
export interface TaskPlace {
  readonly state: ListableState;
  /** Behind what the store has told; null: at the state's beginning. */
  readonly after: string | null;
}

/** Which tasks, and where the page begins; left out: at the beginning. */
export interface TaskPageRequest extends ListTasksRequest, OfDefinition {
  readonly from?: TaskPlace;
}

/** A page of tasks. */
export interface TaskPage {
  readonly tasks: readonly TaskListEntry[];
  /** Tasks that were looked at: with a filter at most 5,000. */
  readonly lookedAt: number;
  /** null: there are no others. Of several states the next page may have none. */
  readonly next: TaskPlace | null;
  /** The last task that was looked at, where there may be others. */
  readonly stoppedAt: TaskStop | null;
}

/** Where a page stopped. */
export interface TaskStop {
  readonly state: ListableState;
  /** null: at the beginning of this state. */
  readonly task: TaskId | null;
  /** When it ended or is due; null: of other states. */
  readonly at: string | null;
}

/** The states of a request, in their order. */
export function statesOf(request: ListTasksRequest): readonly ListableState[] {
  return request.states ?? (isSearch(request) ? listableStates : ["ready"]);
}

/** Is anything asked for beside states? */
export function isSearch(request: ListTasksRequest): boolean {
  return request.error !== undefined || Object.keys(filterOf(request)).length > 0;
}

/** What the store is asked for beside states: it knows no filter of errors. */
export function filterOf(request: ListTasksRequest): TaskFilter {
  const { key, keyPrefix, groupKey, batchId, where } = request;
  const { createdSince, createdBefore, endedSince, endedBefore } = request;
  const members = {
    ...{ key, keyPrefix, groupKey, batchId, ...where },
    ...{ createdSince, createdBefore, endedSince, endedBefore },
  };
  const given = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given);
}

/**
 * A page of tasks: unfinished ones in the order in which they will start, ended ones newest first, state by state. It ends with
 * `max` tasks, or where 5,000 were looked at.
 */
export async function listTasks(store: TaskStore, request: TaskPageRequest): Promise<TaskPage> {
  const { definition, from, max } = request;
  const filter = filterOf(request);
  const states = statesOf(request);
  const begin = from === undefined ? 0 : states.indexOf(from.state);
  const tasks: TaskListEntry[] = [];
  let lookedAt = 0;
  const isFull = (): boolean => tasks.length >= max || lookedAt >= limits.lookMax;
  for (let index = begin; index < states.length; index += 1) {
    const state = states[index] as ListableState;
    let after = index === begin ? (from?.after ?? null) : null;
    if (isFull() && after === null) return { tasks, lookedAt, ...stopBefore(state) };
    do {
      const page = await readFitting(store, request.error, {
        ...filter,
        ...{ name: definition, state, max: max - tasks.length, lookMax: limits.lookMax - lookedAt },
        ...(after === null ? {} : { after }),
      });
      tasks.push(...page.tasks);
      lookedAt += page.lookedAt;
      after = page.next;
      // A search in payloads may have stopped at their bytes.
      const goesOn = request.error !== undefined && request.where === undefined && !isFull();
      if (after !== null && !goesOn) {
        const { lastTask: task, lastAt: at } = page;
        return { tasks, lookedAt, next: { state, after }, stoppedAt: { state, task, at } };
      }
    } while (after !== null);
  }
  return { tasks, lookedAt, next: null, stoppedAt: null };
}

/** Tasks that one read looks at where errors are filtered here, behind the store. */
const errorReadMax = 1_000;

/** A page of the store; of an error only the tasks that have this text in their own. A page that would hold too many is read anew, to the last one that fits. */
async function readFitting(
  store: TaskStore,
  error: string | undefined,
  input: ListTasksInput & { readonly lookMax: number },
): Promise<ListTasksAnswer> {
  if (error === undefined) return store.listTasks(input);
  const read = async (max: number) => {
    const page = await store.listTasks({ ...input, max });
    return { page, fitting: page.tasks.filter((task) => task.error?.includes(error) === true) };
  };
  const { page, fitting } = await read(Math.min(errorReadMax, input.lookMax));
  const last = fitting[input.max - 1];
  if (last === undefined || fitting.length === input.max) return { ...page, tasks: fitting };
  const cut = await read(page.tasks.indexOf(last) + 1);
  return { ...cut.page, tasks: cut.fitting };
}

function stopBefore(state: ListableState): Pick<TaskPage, "next" | "stoppedAt"> {
  return { next: { state, after: null }, stoppedAt: { state, task: null, at: null } };
}
