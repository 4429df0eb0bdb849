import { z } from "zod";
import { traceParentForm } from "../core/trace-parent";
import type { OperationId } from "../core/ids";
import { limits } from "../core/limits";
import type { NewTask } from "../ports/task-store";
import { showValue } from "./read-result";
import type { ReadResult } from "./read-result";
import { parseJson } from "./parse-json";
import { ProblemList } from "./problem-list";
import type { TextLine } from "./text-lines";
import { nested, notBoth, objectOf, onlyWith, resultOf } from "./object-schema";
import { container, groupScope, instant, key, listOf, oneOf, operationId, whole } from "./schemas";

/** Tasks to add to one definition. */
export interface EnqueueRequest {
  readonly tasks: readonly NewTask[];
  /** A repeat with the same id adds nothing and answers the first call's ids. */
  readonly operationId?: OperationId;
  /** The kind belongs to other code: the caller says so. Not a member of the body. */
  readonly allowsUnknownKind?: boolean;
}

const traceRule =
  "a W3C traceparent such as 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const members = {
  kind: key.meta({ description: "The handler; default: the definition's name." }).exactOptional(),
  priority: whole(limits.priorityMin, limits.priorityMax)
    .meta({ description: "Lower first.", default: 100 })
    .exactOptional(),
  // Null is another thing than nothing, where only the kind's code can tell the group.
  group: key
    .nullable()
    .meta({ description: "Tasks of one group share its slots; null: none." })
    .exactOptional(),
  groupScope: groupScope.exactOptional(),
  runInMs: whole(0, limits.runInMsMax).exactOptional(),
  runAt: instant.exactOptional(),
  dedupeKey: key.exactOptional(),
  dedupeMs: whole(1, limits.runInMsMax).exactOptional(),
  onDuplicate: oneOf("keep", "replace").exactOptional(),
  traceParent: z.string(traceRule).regex(traceParentForm).exactOptional(),
};
const payload = container("What the handler gets; null: nothing.");
const relations = [
  notBoth("runAt", "runInMs"),
  onlyWith("groupScope", "group"),
  onlyWith("dedupeMs", "dedupeKey"),
  onlyWith("onDuplicate", "dedupeKey"),
];

/** A task in a list. */
export const taskInList = objectOf({ payload, ...members }, { relations });

/** One task alone, with the id of its call. */
export const taskRequest = objectOf({ payload, ...members, operationId }, { relations });

/** Many tasks: 1..10,000, 8 MiB together. */
export const tasksRequest = objectOf({
  tasks: listOf(
    nested(taskInList, z.unknown()),
    limits.enqueueTasksMax,
    `an array of 1..${String(limits.enqueueTasksMax)} tasks`,
  ),
  operationId,
});

/** The body of an enqueue: one task, or many `{ tasks: [task, ..], operationId? }`. */
export function readEnqueueRequest(input: unknown): ReadResult<EnqueueRequest> {
  const isMany = typeof input === "object" && input !== null && "tasks" in input;
  return isMany ? readMany(input) : readOne(input);
}

function readOne(input: unknown): ReadResult<EnqueueRequest> {
  const read = taskRequest(input);
  if (!read.ok) return read;
  const { operationId: id, ...task } = read.value;
  return { ok: true, value: { tasks: [task], ...(id === undefined ? {} : { operationId: id }) } };
}

/** Entry by entry, so that a list of bad tasks costs no more than reading it. */
function readMany(input: object): ReadResult<EnqueueRequest> {
  const problems = new ProblemList();
  const request = tasksRequest.readAt(input, { problems });
  const { tasks: entries } = input as { tasks: unknown };
  if (!Array.isArray(entries) || entries.length > limits.enqueueTasksMax)
    return resultOf<EnqueueRequest>(null, problems);
  const tasks = entries.flatMap((entry: unknown, index) => {
    const path = `tasks[${String(index)}]`;
    return taskInList.readAt(entry, { path, problems }) ?? [];
  });
  if (problems.isEmpty) refuseTooManyBytes(tasks, problems);
  return resultOf(request === null ? null : { ...request, tasks }, problems);
}

/** A line of a text with a task on each. */
export type TaskLine = Pick<TextLine, "number" | "text">;

/** Tasks that stand as JSON on a line each, with the members of a task in a list. Problems name the line: `line 17.priority`. */
export function readTaskLines(lines: readonly TaskLine[]): ReadResult<NewTask[]> {
  const problems = new ProblemList();
  const tasks: NewTask[] = [];
  for (const { number, text } of lines) {
    const path = `line ${String(number)}`;
    try {
      const read = parseJson(text, { root: path, at: path });
      if (read.ok) tasks.push(...[taskInList.readAt(read.value, { path, problems }) ?? []].flat());
      else problems.addAll(read);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      problems.add({ field: path, value: showValue(text), expected: "a task as JSON on one line" });
    }
  }
  return resultOf(tasks, problems);
}

function refuseTooManyBytes(tasks: readonly NewTask[], problems: ProblemList): void {
  const bytes = Buffer.byteLength(JSON.stringify(tasks));
  if (bytes <= limits.enqueueBytesMax) return;
  const value = showValue(`${String(bytes)} bytes in ${String(tasks.length)} tasks`);
  const expected = `at most ${String(limits.enqueueBytesMax)} bytes per call; cut the list into several calls`;
  problems.add({ field: "tasks", value, expected });
}
