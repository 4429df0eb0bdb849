/**
 * Reads input from outside: HTTP bodies and queries, queue messages, command-line arguments. Every reader takes
 * anything, never throws, and answers a checked value or all problems, each naming field, value and what to write
 * instead. Unknown members are problems. May import core and ports.
 */
import { asOperationId, asTaskId, isId } from "../core/ids";
import type { OperationId, TaskId } from "../core/ids";
import { limits } from "../core/limits";
import type { Limit, ListableState } from "../ports/task-store";
import { ObjectReader, describeTextRule, isTextOf, showValue } from "./object-reader";
import type { ReadResult } from "./object-reader";
import { parseJson } from "./parse-json";

/** Names, kinds, group and dedupe keys: characters are UTF-16 units, as both databases count at least. */
export const keyRule = { min: 1, max: limits.nameLengthMax, isKey: true } as const;
/** Why an operator did something: fits the audit's column. */
export const reasonRule = { min: 1, max: limits.reasonLengthMax } as const;
/** Most entries of a list. */
const maxLimit = 1_000;
const maxDefault = 100;
/** W3C Trace Context: version, trace, parent, flags. */
export const traceParentForm = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Change a limit: null no limit, 0 nothing starts, 1..1000, "code" the code's own again. */
export interface LimitRequest {
  readonly limit: Limit | "code";
  readonly reason?: string;
  /** A repeat with the same id answers what the first call did. */
  readonly operationId?: OperationId;
}

/** Pause or resume. */
export interface OperatorRequest {
  readonly reason?: string;
}

/** Which tasks to list. */
export interface ListTasksRequest {
  readonly state: ListableState;
  readonly max: number;
}

/** Which executions to list. */
export interface ListExecutionsRequest {
  readonly definition?: string;
  /** Only those that are live, or dead and not yet taken back. */
  readonly isOpen: boolean;
  readonly max: number;
}

/** A hint of a queue: there may be work of this definition. */
export interface HintMessage {
  readonly taskDefinition: string;
  /** W3C traceparent of who left the hint. */
  readonly traceParent?: string;
  /** An instant of one of its schedules has come. */
  readonly schedule?: true;
}

/** States that a list of tasks can be asked for. */
export const listableStates = [
  "ready",
  "scheduled",
  "waiting",
  "claimed",
  "done",
  "dead",
  "cancelled",
] as const satisfies readonly ListableState[];

/** A definition's name from a route or an argument. */
export function readDefinitionName(input: unknown): ReadResult<string> {
  if (typeof input === "string" && isTextOf(input, keyRule)) return { ok: true, value: input };
  return refused("definition", input, `the name of a definition: ${describeTextRule(keyRule)}`);
}

/** A task's id from a route or an argument: decimal digits; a number only as far as it is exact. */
export function readTaskId(input: unknown): ReadResult<TaskId> {
  const text = Number.isSafeInteger(input) ? String(input) : input;
  if (typeof text === "string" && isId(text)) return { ok: true, value: asTaskId(text) };
  return refused("task", input, "the id of a task: 1..19 decimal digits, below 2^63");
}

/** The body of a limit's change: `{ limit, reason?, operationId? }`. */
export function readLimitRequest(input: unknown): ReadResult<LimitRequest> {
  const reader = ObjectReader.open(input, { known: ["limit", "reason", "operationId"] });
  const expected = `null (no limit), "code" (the code's own again) or a whole number in 0..${String(limits.tokensMax)}`;
  reader.require("limit", expected);
  const given = reader.raw("limit");
  const isNumber =
    Number.isInteger(given) && Number(given) >= 0 && Number(given) <= limits.tokensMax;
  const limit = given === null || given === "code" ? given : Number(given);
  if (given !== null && given !== "code" && !isNumber) reader.refuse("limit", expected);
  const reason = reader.text("reason", reasonRule);
  const operationId = readOperationId(reader);
  return reader.result({
    limit,
    ...(reason === null ? {} : { reason }),
    ...(operationId === null ? {} : { operationId }),
  });
}

/** The body of a pause or resume: nothing, or `{ reason? }`. */
export function readOperatorRequest(input: unknown): ReadResult<OperatorRequest> {
  const reader = ObjectReader.open(input ?? {}, { known: ["reason"] });
  const reason = reader.text("reason", reasonRule);
  return reader.result(reason === null ? {} : { reason });
}

/** The query of a list of tasks: `state` (default ready), `max` (default 100). Values are texts. */
export function readListTasksQuery(input: unknown): ReadResult<ListTasksRequest> {
  const reader = ObjectReader.open(input, { known: ["state", "max"], root: "query" });
  const state = reader.choice("state", listableStates) ?? "ready";
  return reader.result({ state, max: readMax(reader) });
}

/** The query of a list of executions: `definition`, `open` (true or false, default true), `max` (default 100). */
export function readListExecutionsQuery(input: unknown): ReadResult<ListExecutionsRequest> {
  const reader = ObjectReader.open(input, { known: ["definition", "open", "max"], root: "query" });
  const definition = reader.text("definition", keyRule);
  const isOpen = reader.choice("open", ["true", "false"]) !== "false";
  const max = readMax(reader);
  return reader.result({ ...(definition === null ? {} : { definition }), isOpen, max });
}

/** A query or a body that must be empty. */
export function readNothing(input: unknown): ReadResult<null> {
  return ObjectReader.open(input ?? {}, { known: [] }).result(null);
}

/**
 * A hint `{ "taskDefinition": name, "traceParent"?: text, "schedule"?: true }`. The Functions library parses text that looks like JSON, so
 * it may arrive as an object, a text or a number; a text or number alone stands for the name (a definition may be
 * called `2024`). A malformed `traceParent` is dropped: tracing never stops work.
 */
export function readHint(message: unknown): ReadResult<HintMessage> {
  const given = parseMessage(message);
  if (!given.ok) return given;
  const parsed = given.value;
  if (typeof parsed === "string" || Number.isSafeInteger(parsed)) {
    const name = readDefinitionName(String(parsed));
    // What starts like JSON is a damaged hint, not a name.
    if (name.ok && !looksLikeJson(name.value))
      return { ok: true, value: { taskDefinition: name.value } };
    return refused("message", message, `{ "taskDefinition": name } or a name alone`);
  }
  const reader = ObjectReader.open(parsed, {
    known: ["taskDefinition", "traceParent", "schedule"],
    root: "message",
  });
  const named = reader.raw("taskDefinition");
  const name = readDefinitionName(Number.isSafeInteger(named) ? String(named) : named);
  if (!name.ok) {
    reader.refuseMember("taskDefinition", `the name of a definition: ${describeTextRule(keyRule)}`);
  }
  const trace = reader.raw("traceParent");
  const isTrace = typeof trace === "string" && traceParentForm.test(trace);
  const taskDefinition = name.ok ? name.value : "";
  return reader.result({
    taskDefinition,
    ...(isTrace ? { traceParent: trace } : {}),
    ...(reader.raw("schedule") === true ? { schedule: true as const } : {}),
  });
}

/** `operationId`: a UUID that the caller keeps for repeats, or null. */
export function readOperationId(reader: ObjectReader): OperationId | null {
  if (!reader.has("operationId")) return null;
  const given = reader.raw("operationId");
  if (typeof given === "string" && uuid.test(given)) return asOperationId(given.toLowerCase());
  reader.refuse("operationId", "a UUID made at random for this call and kept for its repeats");
  return null;
}

/** One problem as a result. */
export function refused(field: string, input: unknown, expected: string): ReadResult<never> {
  return { ok: false, problems: [{ field, value: showValue(input), expected }] };
}

/** `max` of a query; without other bounds: 1..1000, default 100. */
export function readMax(
  reader: ObjectReader,
  bounds = { max: maxLimit, default: maxDefault },
): number {
  if (!reader.has("max")) return bounds.default;
  const given = reader.raw("max");
  const value = typeof given === "string" && /^\d{1,4}$/.test(given) ? Number(given) : given;
  if (Number.isInteger(value) && Number(value) >= 1 && Number(value) <= bounds.max)
    return Number(value);
  reader.refuse("max", `a whole number in 1..${String(bounds.max)}`);
  return bounds.default;
}

/**
 * Text that is JSON becomes its value, at most twice (text inside text); a text that isn't stays as it is. JSON that is too
 * deep, too much or has numbers that would be changed is refused.
 */
export function parseMessage(message: unknown): ReadResult<unknown> {
  let value = message;
  for (let round = 0; round < 2; round += 1) {
    if (typeof value !== "string" || !looksLikeJson(value)) break;
    try {
      const read = parseJson(value, { root: "message", at: "message" });
      if (!read.ok) return read;
      ({ value } = read);
    } catch {
      break;
    }
  }
  return { ok: true, value };
}

function looksLikeJson(text: string): boolean {
  return /^\s*["{[]/.test(text);
}
