import { checkCron } from "../../core/cron";
import type { MissedPolicy } from "../../core/cron";
import { InvalidArgumentError } from "../../core/errors";
import type { JsonObject } from "../../core/json";
import { checkNames } from "../../core/known-names";
import { limits } from "../../core/limits";
import { keyOf } from "../../core/payload-key";
import { refusedField } from "../../core/refused-field";
import { checkKey } from "../../core/text";
import type { KindRules } from "../../ports/task-store";
import { validateGiven } from "./standard-schema";
import type { StandardSchema } from "./standard-schema";
import type { KindSchedule } from "./task-kind";

/** When a schedule runs. */
export interface ScheduleTimes {
  /** 1..200 characters, unique within the queue; default: the kind's name. An operator pauses it by this name. */
  name?: string;
  /** Five fields (minute, hour, day of month, month, day of week), or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`. */
  cron: string;
  /** IANA name of the zone that the expression is read in, daylight saving included; default UTC. */
  timeZone?: string;
  /**
   * What becomes of instants that came while nothing looked. once (default): the last of them runs, however late. skip: the
   * last of them runs if it isn't more than 5 min late. all: each runs.
   */
  missed?: MissedPolicy;
}

/** A payload as a schedule gives it: without the member that each instant adds. */
type Scheduled<Input> = JsonObject extends Input
  ? JsonObject
  : Omit<NonNullable<Input>, "scheduledFor">;

/** May be left out where nothing in it is needed. */
type ScheduledPayload<Payload> =
  Record<string, never> extends Payload ? { payload?: Payload } : { payload: Payload };

/**
 * A schedule as its author writes it: a task at each instant of a cron expression, once over all instances. `payload`: of
 * each task, at most 65,472 bytes of JSON; its instant is added as `scheduledFor`, ISO-8601 in UTC.
 */
export type ScheduleOptions<Input> = ScheduleTimes & ScheduledPayload<Scheduled<Input>>;

/** The schedule's kind, as far as its schedules need it. */
interface ScheduledKind {
  readonly name: string;
  readonly groupKey: ((payload: unknown) => string | null | undefined) | null;
  readonly schema: StandardSchema | null;
  readonly rules: KindRules;
}

type AnySchedule = ScheduleTimes & { payload?: unknown };

/** The schedules of a kind. Throws InvalidArgumentError naming the field, the value and the expected form. */
export function schedulesOf(
  kind: ScheduledKind,
  { schedule: given = [] }: { schedule?: AnySchedule | readonly AnySchedule[] },
): KindSchedule[] {
  const isList = Array.isArray(given);
  const list = (isList ? given : [given]) as readonly AnySchedule[];
  return list.map((schedule, index) =>
    scheduleOf(kind, isList ? `schedule[${String(index)}]` : "schedule", schedule),
  );
}

function scheduleOf(kind: ScheduledKind, at: string, schedule: AnySchedule): KindSchedule {
  checkNames(at, schedule, ["name", "cron", "timeZone", "missed", "payload"]);
  const { name = kind.name, cron, timeZone = "UTC", missed = "once", payload } = schedule;
  checkKey(`${at}.name`, name);
  checkCron(at, { cron, timeZone });
  checkMissed(`${at}.missed`, missed);
  const text = payload === undefined ? null : payloadText(`${at}.payload`, payload);
  checkInput(`${at}.payload`, kind, text);
  const group = text === null ? null : groupOf(`${at}.payload`, kind, { text, payload });
  return { name, kind: kind.rules.kind, cron, timeZone, missed, payload: text, group };
}

/** As an instant of the schedule will give it. A schema that answers later is asked by the worker only. */
function checkInput(field: string, { name, schema }: ScheduledKind, text: string | null): void {
  if (schema === null) return;
  const given = (text === null ? {} : JSON.parse(text)) as JsonObject;
  const checked = validateGiven(schema, { ...given, scheduledFor: "2030-01-01T00:00:00.000Z" });
  if (checked instanceof Promise || checked.ok) return;
  throw new InvalidArgumentError(
    `${field}: expected what kind ${name} takes, without scheduledFor (${checked.problems.join("; ")})`,
    { details: { field }, cause: checked.cause },
  );
}

/** As where a client enqueues: no payload, no key. */
function groupOf(
  field: string,
  { rules, groupKey }: ScheduledKind,
  { text, payload }: { text: string; payload: unknown },
): string | null {
  if (rules.groupBy === null) {
    const key = groupKey?.(payload) ?? null;
    if (key !== null) checkKey(`${field}'s groupKey`, key);
    return key;
  }
  const found = keyOf(text, rules.groupBy);
  if ("problem" in found)
    throw new InvalidArgumentError(`${field.replace(/payload$/, "")}${found.problem}`, {
      details: { field },
    });
  return found.key;
}

function checkMissed(field: string, missed: string): void {
  if (["skip", "once", "all"].includes(missed)) return;
  throw refusedField(field, `skip, once or all (${missed})`);
}

function payloadText(field: string, payload: unknown): string {
  const text = JSON.stringify(payload);
  if (!text.startsWith("{") || Buffer.byteLength(text) > limits.schedulePayloadBytesMax)
    throw refusedField(
      field,
      `an object of at most ${String(limits.schedulePayloadBytesMax)} bytes of JSON (${text.slice(0, 100)})`,
    );
  const { scheduledFor } = JSON.parse(text) as { scheduledFor?: unknown };
  if (scheduledFor === undefined) return text;
  const member = `${field}.scheduledFor`;
  throw refusedField(
    member,
    `no such member, since each instant adds its own (${JSON.stringify(scheduledFor).slice(0, 100)})`,
  );
}
