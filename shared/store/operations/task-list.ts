import { InvalidArgumentError } from "../../core/errors";
import { asTaskId, isId } from "../../core/ids";
import type { BatchId, TaskId } from "../../core/ids";
import type { ListableState } from "../../core/listable-states";
import { limits } from "../../core/limits";
import { checkPath } from "../../core/payload-key";
import { checkKey, cleanText } from "../../core/text";
import { checkInstant, checkInt, unlike } from "./checks";
import { columns, int, json, textOrNull } from "./columns";
import { withAnswerWords } from "./answer-words";
import { operationsOf } from "./operation";
import type { AnswerRow } from "./operation";

/* ---- Tasks as they stand in lists: pages of a state, and searches in it ---- */

/** Which tasks there are. */
export interface TaskListOperations {
  /** Tasks of one definition in one state: a page of all, or of those that filters leave. */
  listTasks(input: ListTasksInput): Promise<ListTasksAnswer>;
}

export interface ListTasksInput extends TaskFilter {
  name: string;
  state: ListableState;
  /** 1..1000 */
  max: number;
  /** `next` of the page before; left out: from the beginning. */
  after?: string;
  /** With a filter so many tasks are looked at; 1..5000, default 5000. */
  lookMax?: number;
}

/** Which tasks of a state: those that all of it fits. */
export interface TaskFilter {
  /** The dedupe key; of ready, scheduled and waiting tasks the one that holds it. */
  key?: string;
  /** How the dedupe key begins. */
  keyPrefix?: string;
  /** Of the definition, or of all definitions. Done tasks name none. */
  groupKey?: string;
  batchId?: BatchId;
  createdSince?: Date;
  createdBefore?: Date;
  /** No unfinished task fits this and the next. */
  endedSince?: Date;
  endedBefore?: Date;
  /** A member of the payload: names joined by dots, such as `customer.id`. */
  path?: string;
  /** Its text; or its number, true, false or null as the payload writes it. 0..200 characters. */
  value?: string;
}

const listed = columns({
  tasks: entriesOf,
  /** Tasks of the state that were looked at, from the page's beginning. */
  lookedAt: int,
  /** Where the next page begins; null: there are no others. Nothing but `after` reads it. */
  next: textOrNull,
  /** The last task that was looked at; null where there is no next page. */
  lastTask: taskIdOrNull,
  /** When that one ended or is due; null of other states, and where there is no next page. */
  lastAt: textOrNull,
});
/** Answer of `listTasks`. */
export type ListTasksAnswer = ReturnType<typeof listed>;

export type { ListableState };

/** How a claimed task stands. lost: the lease of its worker is over, it comes back. */
export type Standing = "running" | "prefetched" | "lost";

export interface TaskListEntry {
  task: TaskId;
  kind: string;
  priority: number;
  /** Of a claimed task: how it stands. */
  state: Exclude<ListableState, "claimed"> | Standing;
  createdAt: string;
  /** Of a scheduled task: when it may start. Of a ready one: since when; its enqueue, or the end of its delay, its reschedule, the opening of its wave. */
  dueAt?: string | null;
  claimedAt?: string | null;
  endedAt?: string | null;
  failedCount: number;
  lostCount: number;
  error: string | null;
  worker: string | null;
}

const operation = operationsOf<TaskListOperations>();

/** Procedure `list_tasks`. */
export const listTasks = operation("listTasks", {
  right: "worker",
  parameters: {
    ...{ name: "text", state: "text", max: "int", after: "text" },
    ...{ key: "text", keyPrefix: "text", groupKey: "text", batchId: "bigint" },
    ...{ createdSince: "instant", createdBefore: "instant" },
    ...{ finishedSince: "instant", finishedBefore: "instant" },
    ...{ path: "text", value: "text", lookMax: "int" },
  },
  check: checkList,
  bind: ({ lookMax = limits.lookMax, endedSince = null, endedBefore = null }) => ({
    lookMax,
    finishedSince: endedSince,
    finishedBefore: endedBefore,
  }),
  decode: listed,
});

function entriesOf(row: AnswerRow, column: string): TaskListEntry[] {
  return json<object[]>(row, column).map((entry) => withAnswerWords<TaskListEntry>(entry));
}

function taskIdOrNull(row: AnswerRow, column: string): TaskId | null {
  const id = textOrNull(row, column);
  return id === null ? null : asTaskId(id);
}

/** Keys and texts that can be stored, instants, a batch's id. Ranges are SQL's. */
function checkList(input: ListTasksInput): ListTasksInput {
  checkInt("max", input.max);
  checkInt("look_max", input.lookMax ?? limits.lookMax);
  if (input.key !== undefined) checkKey("key", input.key);
  if (input.keyPrefix !== undefined) checkKey("key_prefix", input.keyPrefix);
  if (input.groupKey !== undefined) checkKey("group_key", input.groupKey);
  if (input.batchId !== undefined && !isId(input.batchId))
    throw unlike("batch_id", "the id of a batch", input.batchId);
  checkInstant("created_since", input.createdSince ?? null);
  checkInstant("created_before", input.createdBefore ?? null);
  checkInstant("ended_since", input.endedSince ?? null);
  checkInstant("ended_before", input.endedBefore ?? null);
  if (input.path !== undefined) checkPath("path", input.path);
  if (input.value !== undefined) checkValue(input.value);
  return input;
}

function checkValue(value: string): void {
  if (value.length <= limits.nameLengthMax && value.isWellFormed() && !value.includes("\u0000"))
    return;
  throw new InvalidArgumentError(
    `value: expected 0..${String(limits.nameLengthMax)} characters without U+0000 or half surrogate pairs (${cleanText(value, 220)})`,
    { details: { field: "value" } },
  );
}
