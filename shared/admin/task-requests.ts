/**
 * Reads what operators ask for tasks and groups, as requests.ts does: checked values, or all problems.
 */
import { isId, asTaskId } from "../core/ids";
import type { TaskId } from "../core/ids";
import { limits } from "../core/limits";
import type { RedriveTasksInput, RescheduleTasksInput } from "../ports/task-store";
import { readInstant } from "./enqueue-request";
import { ObjectReader } from "./object-reader";
import type { ReadResult } from "./object-reader";
import { keyRule, readMax, reasonRule } from "./requests";

/** End waiting tasks, request the end of running ones. */
export interface CancelRequest {
  readonly taskIds: readonly TaskId[];
  readonly reason?: string;
}

/** An operator's settings of a group. */
export interface GroupRequest {
  readonly groupKey: string;
  readonly groupScope: "definition" | "global";
  readonly slots?: number;
  readonly paused?: boolean;
  readonly strict?: boolean;
  readonly reason?: string;
}

/** Which groups to list. */
export interface ListGroupsRequest {
  readonly name?: string;
  readonly groupKey?: string;
  readonly max: number;
}

const slotsRange = { min: 1, max: 1_000 } as const;
const maxRange = { min: 1, max: limits.idsMax } as const;
const taskIdsRule = `an array of 1..${String(limits.idsMax)} ids of tasks: texts of 1..19 decimal digits, below 2^63`;

/** `{ tasks: [ids], reason? }` */
export function readCancelRequest(input: unknown): ReadResult<CancelRequest> {
  const reader = ObjectReader.open(input, { known: ["tasks", "reason"] });
  const taskIds = readTaskIds(reader);
  return reader.result({ taskIds, ...readReason(reader) });
}

/** `{ tasks: [ids], reason? }`, or `{ definition, kind?, outcome?, most?, reason? }`: the oldest dead letters, or cancelled tasks. */
export function readRedriveRequest(input: unknown): ReadResult<RedriveTasksInput> {
  const known = ["tasks", "definition", "kind", "outcome", "max", "reason"];
  const reader = ObjectReader.open(input, { known });
  const reason = readReason(reader);
  if (!reader.has("definition")) {
    for (const name of ["kind", "outcome", "max"]) {
      if (reader.has(name)) reader.refuse(name, "it only together with definition");
    }
    return reader.result({ taskIds: readTaskIds(reader), ...reason });
  }
  if (reader.has("tasks")) reader.refuse("tasks", "either tasks or definition, not both");
  const name = reader.requiredText("definition", keyRule);
  const kind = reader.text("kind", keyRule);
  const outcome = reader.choice("outcome", ["dead", "cancelled"]) ?? "dead";
  const max = reader.integer("max", maxRange) ?? limits.idsMax;
  return reader.result({ name, ...(kind === null ? {} : { kind }), outcome, max, ...reason });
}

/** `{ tasks: [ids], runInMs | runAt, reason? }` */
export function readRescheduleRequest(input: unknown): ReadResult<RescheduleTasksInput> {
  const reader = ObjectReader.open(input, { known: ["tasks", "runInMs", "runAt", "reason"] });
  const reason = readReason(reader);
  const taskIds = readTaskIds(reader);
  const runAt = readInstant(reader, "runAt");
  const runInMs = reader.integer("runInMs", { min: 0, max: limits.runInMsMax });
  if (reader.has("runInMs") && reader.has("runAt"))
    reader.refuse("runAt", "either runAt or runInMs, not both");
  if (!reader.has("runInMs") && !reader.has("runAt"))
    reader.refuseMember("runInMs", "milliseconds from now, or runAt: an instant");
  const to = runAt === null ? { runInMs: runInMs ?? 0 } : { runAt };
  return reader.result({ taskIds, to, ...reason });
}

/** `{ key, scope?, slots?, paused?, strict?, reason? }`: what isn't said stays. */
export function readGroupRequest(input: unknown): ReadResult<GroupRequest> {
  const known = ["key", "scope", "slots", "paused", "strict", "reason"];
  const reader = ObjectReader.open(input, { known });
  const optional = {
    slots: reader.integer("slots", slotsRange),
    paused: readBoolean(reader, "paused"),
    strict: readBoolean(reader, "strict"),
    reason: reader.text("reason", reasonRule),
  };
  const said = Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== null));
  return reader.result({
    groupKey: reader.requiredText("key", keyRule),
    groupScope: reader.choice("scope", ["definition", "global"]) ?? "definition",
    ...said,
  });
}

/** The query of a list of groups: `definition`, `key`, `max` (default 100). Values are texts. */
export function readListGroupsQuery(input: unknown): ReadResult<ListGroupsRequest> {
  const reader = ObjectReader.open(input, { known: ["definition", "key", "max"], root: "query" });
  const name = reader.text("definition", keyRule);
  const groupKey = reader.text("key", keyRule);
  const max = readMax(reader);
  return reader.result({
    ...(name === null ? {} : { name }),
    ...(groupKey === null ? {} : { groupKey }),
    max,
  });
}

function readReason(reader: ObjectReader): { reason?: string } {
  const reason = reader.text("reason", reasonRule);
  return reason === null ? {} : { reason };
}

function readTaskIds(reader: ObjectReader): TaskId[] {
  if (!reader.has("tasks")) {
    reader.refuseMember("tasks", taskIdsRule);
    return [];
  }
  const given = reader.raw("tasks");
  const texts = Array.isArray(given) ? given.map((id: unknown) => textOfId(id)) : [];
  if (texts.length >= 1 && texts.length <= limits.idsMax && !texts.includes(null))
    return texts.flatMap((text) => (text === null ? [] : [asTaskId(text)]));
  reader.refuse("tasks", taskIdsRule);
  return [];
}

/** Decimal digits; a number only as far as it is exact. */
function textOfId(input: unknown): string | null {
  const text = Number.isSafeInteger(input) ? String(input) : input;
  return typeof text === "string" && isId(text) ? text : null;
}

function readBoolean(reader: ObjectReader, name: string): boolean | null {
  if (!reader.has(name)) return null;
  const given = reader.raw(name);
  if (typeof given === "boolean") return given;
  reader.refuse(name, "true or false");
  return null;
}
