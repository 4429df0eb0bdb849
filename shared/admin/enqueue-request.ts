import type { OperationId } from "../core/ids";
import { limits } from "../core/limits";
import type { NewTask } from "../ports/task-store";
import { ObjectReader, showValue } from "./object-reader";
import type { ReadResult } from "./object-reader";
import { parseJson } from "./parse-json";
import { ProblemList } from "./problem-list";
import { payloadText } from "./payload";
import { keyRule, readOperationId, traceParentForm } from "./requests";

/** Tasks to add to one definition. */
export interface EnqueueRequest {
  readonly tasks: readonly NewTask[];
  /** A repeat with the same id adds nothing and answers the first call's ids. */
  readonly operationId?: OperationId;
  /** The kind belongs to other code: the caller says so. Not a member of the body. */
  readonly allowsUnknownKind?: boolean;
}

const taskMembers = [
  "payload",
  "kind",
  "priority",
  "group",
  "groupScope",
  "runInMs",
  "runAt",
  "dedupeKey",
  "dedupeMs",
  "onDuplicate",
  "traceParent",
] as const;
/** ISO-8601 with seconds and a zone: without a zone it would mean another instant on another machine. */
const instant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/;

/**
 * The body of an enqueue: one task `{ payload, kind?, priority?, group?, groupScope?, runInMs? or runAt?, dedupeKey?,
 * dedupeMs?, onDuplicate?, traceParent?, operationId? }`, or many `{ tasks: [task, ..], operationId? }`: 1..10,000, 8 MiB together.
 * `runAt` is an ISO-8601 instant with its zone. Relations are checked, too: not both of `runInMs` and `runAt`, no
 * `groupScope` without `group`, no `dedupeMs` or `onDuplicate` without `dedupeKey`.
 */
export function readEnqueueRequest(input: unknown): ReadResult<EnqueueRequest> {
  const isMany = typeof input === "object" && input !== null && "tasks" in input;
  return isMany ? readMany(input) : readOne(input);
}

function readOne(input: unknown): ReadResult<EnqueueRequest> {
  const reader = ObjectReader.open(input, { known: [...taskMembers, "operationId"] });
  const operationId = readOperationId(reader);
  const task = readTask(reader);
  return reader.result(request([task], operationId));
}

function readMany(input: object): ReadResult<EnqueueRequest> {
  const reader = ObjectReader.open(input, { known: ["tasks", "operationId"] });
  const operationId = readOperationId(reader);
  const entries = reader.raw("tasks");
  if (!Array.isArray(entries) || entries.length < 1 || entries.length > limits.enqueueTasksMax) {
    reader.refuse("tasks", `an array of 1..${String(limits.enqueueTasksMax)} tasks`);
    return reader.result(request([], operationId));
  }
  const tasks = entries.map((entry: unknown, index) => {
    const path = `tasks[${String(index)}]`;
    return readTask(
      ObjectReader.open(entry, { known: taskMembers, path, problems: reader.problems }),
    );
  });
  if (reader.isSound) refuseTooManyBytes(tasks, reader.problems);
  return reader.result(request(tasks, operationId));
}

/** A line of a text with a task on each. */
export interface TaskLine {
  /** From 1. */
  readonly number: number;
  readonly text: string;
}

/** Tasks that stand as JSON on a line each, with the members of a task in a list. Problems name the line: `line 17.priority`. */
export function readTaskLines(lines: readonly TaskLine[]): ReadResult<NewTask[]> {
  const problems = new ProblemList();
  const tasks: NewTask[] = [];
  for (const { number, text } of lines) {
    const path = `line ${String(number)}`;
    try {
      const read = parseJson(text, { root: path, at: path });
      if (read.ok)
        tasks.push(readTask(ObjectReader.open(read.value, { known: taskMembers, path, problems })));
      else problems.addAll(read);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      problems.add({ field: path, value: showValue(text), expected: "a task as JSON on one line" });
    }
  }
  return problems.isEmpty ? { ok: true, value: tasks } : { ok: false, ...problems.answer() };
}

function request(tasks: readonly NewTask[], operationId: OperationId | null): EnqueueRequest {
  return operationId === null ? { tasks } : { tasks, operationId };
}

function readTask(reader: ObjectReader): NewTask {
  const optional = {
    kind: reader.text("kind", keyRule),
    priority: reader.integer("priority", { min: limits.priorityMin, max: limits.priorityMax }),
    group: reader.text("group", keyRule),
    groupScope: reader.choice("groupScope", ["definition", "global"]),
    runInMs: reader.integer("runInMs", { min: 0, max: limits.runInMsMax }),
    runAt: readInstant(reader, "runAt"),
    dedupeKey: reader.text("dedupeKey", keyRule),
    dedupeMs: reader.integer("dedupeMs", { min: 1, max: limits.runInMsMax }),
    onDuplicate: reader.choice("onDuplicate", ["keep", "replace"]),
    traceParent: readTraceParent(reader),
  };
  if (reader.has("runInMs") && reader.has("runAt"))
    reader.refuse("runAt", "either runAt or runInMs, not both");
  if (reader.has("groupScope") && !reader.has("group"))
    reader.refuse("groupScope", "it only together with group");
  if (reader.has("dedupeMs") && !reader.has("dedupeKey"))
    reader.refuse("dedupeMs", "it only together with dedupeKey");
  if (reader.has("onDuplicate") && !reader.has("dedupeKey"))
    reader.refuse("onDuplicate", "it only together with dedupeKey");
  // Said so: none. Another thing than nothing, where only the kind's code can tell the group.
  const noGroup = reader.isNull("group") ? { group: null } : {};
  return { payload: readPayload(reader), ...withoutNulls(optional), ...noGroup };
}

function readPayload(reader: ObjectReader): string | null {
  reader.require("payload", "a JSON object or array, or null for none");
  const payload = reader.raw("payload");
  if (payload === null) return null;
  const read = payloadText(payload);
  if ("text" in read) return read.text;
  reader.refuse("payload", read.expected);
  return null;
}

/** An instant with its zone, or null. */
export function readInstant(reader: ObjectReader, name: string): Date | null {
  if (!reader.has(name)) return null;
  const given = reader.raw(name);
  const date = typeof given === "string" && instant.test(given) ? new Date(given) : null;
  if (date !== null && !Number.isNaN(date.getTime()) && isRealDay(String(given))) return date;
  reader.refuse(name, "an instant such as 2026-01-31T08:30:00Z, with its zone");
  return null;
}

/** Date takes the 31st of any month and means the day after its last. */
function isRealDay(text: string): boolean {
  const [year, month, day] = text.slice(0, 10).split("-").map(Number);
  const date = new Date(`${text.slice(0, 10)}T00:00:00Z`);
  return (
    date.getUTCFullYear() === year && date.getUTCMonth() + 1 === month && date.getUTCDate() === day
  );
}

function readTraceParent(reader: ObjectReader): string | null {
  if (!reader.has("traceParent")) return null;
  const given = reader.raw("traceParent");
  if (typeof given === "string" && traceParentForm.test(given)) return given;
  reader.refuse(
    "traceParent",
    "a W3C traceparent such as 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  );
  return null;
}

function refuseTooManyBytes(tasks: readonly NewTask[], problems: ProblemList): void {
  const bytes = Buffer.byteLength(JSON.stringify(tasks));
  if (bytes <= limits.enqueueBytesMax) return;
  const value = showValue(`${String(bytes)} bytes in ${String(tasks.length)} tasks`);
  const expected = `at most ${String(limits.enqueueBytesMax)} bytes per call; cut the list into several calls`;
  problems.add({ field: "tasks", value, expected });
}

type WithoutNulls<Members> = { [Name in keyof Members]?: NonNullable<Members[Name]> };

function withoutNulls<Members extends object>(members: Members): WithoutNulls<Members> {
  const entries = Object.entries(members).filter(([, value]) => value !== null);
  return Object.fromEntries(entries) as WithoutNulls<Members>;
}
