import type { Admin } from "../admin/create-admin";
import { listMax } from "../admin/listing";
import type { TaskId } from "../core/ids";
import type { TaskListEntry } from "../ports/task-store";
import { renderTable, showDuration, showInstant } from "../terminal/output";
import type { Column, Screen } from "../terminal/output";
import { errorColumn } from "./error-column";

/** The ready tasks of a definition that have waited longest. */

/** A ready task and its age. */
export interface AgedTask extends TaskListEntry {
  /** Since it may start: its enqueue, or the end of its delay, its reschedule, the opening of its wave; null: not known. */
  readonly ageMs: number | null;
}

/** The oldest first. */
export interface OldestTasks {
  readonly tasks: readonly AgedTask[];
  /** There are more ready tasks than these. */
  readonly more: boolean;
  /** All ready tasks were compared; else the first 1,000 in the order in which they start, and the oldest that a definition's pace tells. */
  readonly isWhole: boolean;
}

/**
 * Two reads, and a third where the oldest task isn't among the first 1,000. No list is ordered by age: these are compared. Tasks that are
 * enqueued while it reads may be missing.
 */
export async function readOldest(
  admin: Admin,
  definition: string,
  max: number,
): Promise<OldestTasks> {
  const [{ oldestReady }, { tasks: listed, next }] = await Promise.all([
    admin.pace(definition),
    admin.tasks({ definition, states: ["ready"], max: listMax }),
  ]);
  const isWhole = next === null;
  const isMissing = oldestReady !== null && !listed.some(({ task }) => task === oldestReady.task);
  const beyond = isMissing && !isWhole ? await readReady(admin, oldestReady) : [];
  // By the database's clock, which no list tells.
  const nowMs = oldestReady === null ? null : Date.parse(oldestReady.dueAt) + oldestReady.ageMs;
  const aged = [...beyond, ...listed]
    .map((task) => ({ ...task, ageMs: nowMs === null ? null : Math.max(nowMs - dueMs(task), 0) }))
    .sort((one, other) => dueMs(one) - dueMs(other));
  return { tasks: aged.slice(0, max), more: aged.length > max || !isWhole, isWhole };
}

function dueMs({ dueAt, createdAt }: TaskListEntry): number {
  return Date.parse(dueAt ?? createdAt);
}

/** The task as a list has it; none where it isn't ready any more. */
async function readReady(
  admin: Admin,
  { task: taskId, dueAt }: { readonly task: TaskId; readonly dueAt: string },
): Promise<TaskListEntry[]> {
  const facts = await admin.facts(taskId);
  if (facts?.state !== "ready") return [];
  const { task, kind, priority, state, createdAt, failedCount, lostCount, error } = facts;
  const counts = { failedCount, lostCount };
  const rest = { createdAt, dueAt, ...counts, error, worker: null };
  return [{ task, kind, priority, state, ...rest }];
}

/** For people; below the table stands which tasks were compared. */
export function renderOldest({ tasks, more, isWhole }: OldestTasks, screen: Screen): string {
  const table = renderTable(tasks, columns, screen);
  if (!isWhole)
    return `${table}\n\nOf the 1000 that start next and the oldest of the first 100 of each priority; there are more, which may be older than others here.`;
  return more ? `${table}\n\nThe ${String(tasks.length)} oldest; --max N shows more.` : table;
}

const columns: readonly Column<AgedTask>[] = [
  { title: "task", value: (row) => row.task, isNumber: true },
  { title: "age", value: (row) => showDuration(row.ageMs), isNumber: true, tone: () => "strong" },
  { title: "kind", value: (row) => row.kind },
  { title: "priority", value: (row) => String(row.priority), isNumber: true },
  { title: "created", value: (row) => showInstant(row.createdAt), isSpare: true },
  { title: "failed", value: (row) => String(row.failedCount), isNumber: true },
  { title: "lost", value: (row) => String(row.lostCount), isNumber: true, isSpare: true },
  errorColumn,
];
