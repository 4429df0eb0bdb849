import type { Admin } from "../admin/create-admin";
import { listMax } from "../admin/listing";
import type { DefinitionReport } from "../admin/app-actions";
import type { TaskPlace } from "../admin/task-list";
import { isSearch } from "../admin/task-list";
import type { ListTasksRequest } from "../admin/task-list-request";
import { countedMax } from "../core/counted";
import type { TaskId } from "../core/ids";
import { isEndState } from "../core/listable-states";
import type { ListableState, TaskListEntry } from "../ports/task-store";
import type { TaskFits } from "./task-filters";

/** The tasks that an export writes, page by page. */

/** Which tasks. */
export interface Exporting {
  readonly definition: string;
  readonly states: readonly ListableState[];
  /** Of each state; null: all. */
  readonly max: number | null;
  /** What the database leaves out. */
  readonly query: ListTasksRequest;
  /** The parts of its answer that are left out; null: none. */
  readonly fits: TaskFits | null;
}

/** Some tasks of one state. */
export interface ExportedPage {
  readonly state: ListableState;
  /** Their facts are read one by one. */
  readonly tasks: readonly Pick<TaskListEntry, "task" | "dueAt">[];
  /** The state has more than `max` tasks. */
  readonly isCut: boolean;
}

/** Each task once: one that goes on to a later state meanwhile is in the earlier one's page. */
export async function* exportedPages(
  admin: Admin,
  { definition, states, max, query, fits }: Exporting,
): AsyncGenerator<ExportedPage, void> {
  const seen = new Set<TaskId>();
  for (const state of states) {
    let left = max ?? Infinity;
    let from: TaskPlace | null = null;
    do {
      const { tasks, next }: Awaited<ReturnType<Admin["tasks"]>> = await admin.tasks({
        ...query,
        ...{ definition, states: [state], max: fits === null ? Math.min(left, listMax) : listMax },
        ...(from === null ? {} : { from }),
      });
      from = next;
      const fitting = fits === null ? tasks : tasks.filter(fits);
      const taken = fitting.slice(0, left);
      left -= taken.length;
      const unseen = taken.filter(({ task }) => !seen.has(task));
      // An ended task stays so, or becomes a ready one, whose page was before.
      if (!isEndState(state)) for (const { task } of unseen) seen.add(task);
      yield {
        state,
        tasks: unseen,
        isCut: left === 0 && (next !== null || taken.length < fitting.length),
      };
    } while (from !== null && left > 0);
  }
}

/** How many tasks that will be, as far as counts tell; null: a count stopped at 10,000, or some are left out. */
export function countExported(
  counts: Pick<DefinitionReport, ListableState>,
  { states, max, query, fits }: Exporting,
): number | null {
  if (fits !== null || isSearch(query)) return null;
  const each = states.map((state) => ({ isWhole: counts[state] < countedMax, of: counts[state] }));
  if (!each.every(({ isWhole, of }) => isWhole || (max !== null && max <= of))) return null;
  return each.reduce((sum, { of }) => sum + Math.min(of, max ?? Infinity), 0);
}
