import { listMax } from "../admin/listing";
import { isSearch } from "../admin/task-list";
import type { TaskPage, TaskPlace, TaskStop } from "../admin/task-list";
import type { ListTasksRequest } from "../admin/task-list-request";
import { limits } from "../core/limits";
import { isEndState } from "../core/listable-states";
import type { ListableState, TaskListEntry } from "../ports/task-store";
import { describeCut, renderTable, showInstant, showNumber } from "../terminal/output";
import type { Column, Screen } from "../terminal/output";
import type { CommandContext } from "./command";
import { errorColumn } from "./error-column";
import { progressOf } from "./progress-of";
import type { TaskFits } from "./task-filters";

/** Tasks by state and filters: one page, or all pages of a search. */

/** The tasks, and how far the search looked. */
export interface FoundTasks {
  readonly tasks: readonly TaskListEntry[];
  /** There may be others. */
  readonly more: boolean;
  /** Tasks that were looked at. */
  readonly lookedAt: number;
  readonly stoppedAt: TaskStop | null;
  /** It is a search. */
  readonly isSearch: boolean;
}

/** The question to the database, and the part of its answer that is left out here. */
export interface TaskQuery {
  readonly query: ListTasksRequest;
  /** null: nothing. */
  readonly fits: TaskFits | null;
}

/** One page; with `--all` as many pages as it takes to `max` tasks, to the last task or to Ctrl+C. */
export async function findTasks(
  context: CommandContext,
  definition: string,
  { query, fits }: TaskQuery,
): Promise<FoundTasks> {
  const isAll = context.flags.has("all");
  const { interrupted } = isAll ? context.repeater() : {};
  const admin = context.admin();
  const progress = progressOf(context);
  const tasks: TaskListEntry[] = [];
  let lookedAt = 0;
  let from: TaskPlace | null = null;
  try {
    for (;;) {
      const max = fits === null ? query.max - tasks.length : listMax;
      const request = { ...query, definition, max };
      const page: TaskPage = await admin.tasks({ ...request, ...(from === null ? {} : { from }) });
      tasks.push(...(fits === null ? page.tasks : page.tasks.filter(fits)));
      lookedAt += page.lookedAt;
      from = page.next;
      const isEnough = fits === null || lookedAt >= limits.lookMax;
      const isOver = (!isAll && isEnough) || from === null || tasks.length >= query.max;
      if (isOver || interrupted?.aborted === true)
        return {
          tasks: tasks.slice(0, query.max),
          more: from !== null || tasks.length > query.max,
          lookedAt,
          stoppedAt: page.stoppedAt,
          isSearch: fits !== null || isSearch(query),
        };
      progress.show("search", `${describeLooked(lookedAt)}, found ${String(tasks.length)}`);
    }
  } finally {
    progress.end();
  }
}

function describeLooked(lookedAt: number): string {
  return `Looked at ${showNumber(lookedAt, "task", "tasks")}`;
}

interface Found {
  readonly found: FoundTasks;
  readonly definition: string;
  readonly states: readonly ListableState[];
}

/** A table, and how far it was looked. */
export function renderFound({ found, definition, states }: Found, screen: Screen): string {
  const { tasks, more } = found;
  const table = tasks.length === 0 ? null : renderTable(tasks, columnsOf(states), screen);
  if (found.isSearch)
    return (table ?? `No such task of ${definition} was found.`) + describeEnd(found);
  if (table === null) return `No task of ${definition} is ${states.join(" or ")}.`;
  return table + describeCut({ rows: tasks, more });
}

/** Where a search stopped before it had looked at all. */
function describeEnd({ lookedAt, more, stoppedAt }: FoundTasks): string {
  if (!more || stoppedAt === null) return "";
  const { state, task, at } = stoppedAt;
  const place =
    task === null ? "" : `, to task ${task}${at === null ? "" : ` (${showInstant(at)})`}`;
  return `\n\n${describeLooked(lookedAt)}; stopped in ${state}${place}. There may be more: --all goes on, up to --max tasks.`;
}

function columnsOf(states: readonly ListableState[]): Column<TaskListEntry>[] {
  const [state] = states;
  if (state !== undefined && states.length === 1) return columnsOfState(state);
  return [
    { title: "task", value: (row) => row.task, isNumber: true },
    { title: "kind", value: (row) => row.kind },
    { title: "state", value: (row) => row.state },
    { title: "created", value: (row) => showInstant(row.createdAt) },
    {
      title: "ended",
      value: (row) => (row.endedAt == null ? "-" : showInstant(row.endedAt)),
    },
    { title: "failed", value: (row) => String(row.failedCount), isNumber: true, isSpare: true },
    errorColumn,
  ];
}

function columnsOfState(state: ListableState): Column<TaskListEntry>[] {
  const hasEnded = isEndState(state);
  const columns: Column<TaskListEntry>[] = [
    { title: "task", value: (row) => row.task, isNumber: true },
    { title: "kind", value: (row) => row.kind },
    { title: "priority", value: (row) => String(row.priority), isNumber: true, isSpare: true },
    { title: "created", value: (row) => showInstant(row.createdAt), isSpare: hasEnded },
    { title: "failed", value: (row) => String(row.failedCount), isNumber: true },
    { title: "lost", value: (row) => String(row.lostCount), isNumber: true },
  ];
  if (state === "scheduled") columns.push({ title: "due", value: (row) => showInstant(row.dueAt) });
  if (hasEnded) columns.push({ title: "ended", value: (row) => showInstant(row.endedAt) });
  if (state === "claimed") {
    columns.push({ title: "state", value: (row) => row.state });
    columns.push({ title: "claimed", value: (row) => showInstant(row.claimedAt) });
  }
  if (hasEnded || state === "claimed")
    columns.push({ title: "worker", value: (row) => row.worker ?? "-", isSpare: true });
  columns.push(errorColumn);
  return columns;
}
