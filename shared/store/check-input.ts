import { InvalidArgumentError } from "../core/errors";
import { isId } from "../core/ids";
import { limits } from "../core/limits";
import type { Rate } from "../core/rate";
import { checkPath } from "../core/payload-key";
import { checkInteger, checkKey, cleanText, wholeText } from "../core/text";
import type {
  FireScheduleInput,
  SetSchedulePausedInput,
  SetSchedulesInput,
} from "../ports/schedules";
import type {
  Beat,
  EnqueueTasksInput,
  Failure,
  KindRules,
  NewTask,
  RedriveTasksInput,
  RegisterDefinitionInput,
  RescheduleTasksInput,
  SetGroupInput,
} from "../ports/task-store";
import type { AdvanceWatermarkInput, SetWatermarkInput } from "../ports/watermarks";

/*
 * What SQL can't check by itself, or only too late: texts that can't be stored as they are, numbers that would lose
 * their field's name on the way. Every store calls these first. SQL checks the rest, and everything again for SQL users.
 */

/** Names of the operator's and the worker's calls. */
export function checkName(name: string): void {
  checkKey("name", name);
}

/** Who changes something, for the audit. */
export function checkChangedBy(changedBy: string): string {
  return wholeText("changed_by", changedBy, limits.nameLengthMax);
}

/** Why, for the audit or as an error; null: not said. */
export function checkReason(reason: string | undefined): string | null {
  return reason === undefined ? null : wholeText("reason", reason, limits.reasonLengthMax);
}

/** Whole numbers of the settings; their ranges are SQL's. */
export function checkRegistration(input: RegisterDefinitionInput): void {
  checkName(input.name);
  const any = { min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER };
  checkInteger("build", input.build, { min: 0, max: Number.MAX_SAFE_INTEGER });
  const int32 = { min: -2_147_483_648, max: 2_147_483_647 };
  for (const [field, value] of Object.entries(input.settings)) {
    if (typeof value !== "number") continue;
    const name = field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    checkInteger(name, value, field.startsWith("retain") ? any : int32);
  }
  checkRate(input.settings.rate ?? null);
  for (const { name, limit } of input.settings.sharedLimits ?? []) {
    checkKey("shared_limits", name);
    if (limit !== undefined && limit !== null) checkInt("shared_limits", limit);
  }
  input.kinds?.forEach((rules, index) => {
    checkRules(`kinds[${String(index)}]`, rules);
  });
}

/** What a kind's code says of its tasks. */
function checkRules(at: string, rules: KindRules): void {
  const { kind, groupBy, priority, runInMs, dedupeBy, dedupeMs } = rules;
  checkKey(`${at}.kind`, kind);
  if (groupBy !== null) checkPath(`${at}.groupBy`, groupBy);
  if (dedupeBy !== null) checkPath(`${at}.dedupeBy`, dedupeBy);
  const { priorityMin, priorityMax, runInMsMax } = limits;
  if (priority !== null)
    checkInteger(`${at}.priority`, priority, { min: priorityMin, max: priorityMax });
  if (runInMs !== null) checkInteger(`${at}.runInMs`, runInMs, { min: 0, max: runInMsMax });
  if (dedupeMs !== null) checkInteger(`${at}.dedupeMs`, dedupeMs, { min: 1, max: runInMsMax });
}

/** Whole numbers of a rate; their ranges are SQL's. */
export function checkRate(rate: Rate | null | "code"): void {
  if (rate === null || rate === "code") return;
  checkInt("rate_count", rate.count);
  checkInt("rate_period_ms", rate.periodMs);
  checkInt("rate_burst", rate.burst);
}

/** A whole number that becomes an `int` parameter. */
export function checkInt(field: string, value: number): void {
  checkInteger(field, value, { min: -2_147_483_648, max: 2_147_483_647 });
}

/** Lists of ids: 1..1000, each a whole number of 64 bits. */
export function checkIds(field: string, ids: readonly string[]): void {
  const isList = ids.length >= 1 && ids.length <= limits.idsMax;
  const bad = isList ? ids.find((id) => !isId(id)) : String(ids.length);
  if (bad === undefined) return;
  throw new InvalidArgumentError(
    `${field}: expected 1..${String(limits.idsMax)} ids (${cleanText(bad, 100)})`,
    { details: { field } },
  );
}

/** What a heartbeat names: ids, whose number is SQL's. */
export function checkBeats(executions: readonly Beat[]): void {
  executions.forEach(({ executionId, started }, index) => {
    const at = `executions[${String(index)}]`;
    if (!isId(executionId)) throw badId(`${at}.execution`, "an id", executionId);
    const bad = started.find((id) => !isId(id));
    if (bad !== undefined) throw badId(`${at}.started`, "ids", bad);
  });
}

function badId(field: string, expected: string, id: string): InvalidArgumentError {
  const text = `${field}: expected ${expected} (${cleanText(id, 100)})`;
  return new InvalidArgumentError(text, { details: { field } });
}

/** Ids, or a filter whose range is SQL's. */
export function checkRedrive(input: RedriveTasksInput): void {
  if ("taskIds" in input) {
    checkIds("task_ids", input.taskIds);
    return;
  }
  checkName(input.name);
  if (input.kind !== undefined) checkKey("kind", input.kind);
  checkInt("most", input.most);
}

/** Ids, and an instant that is one. */
export function checkReschedule({ taskIds, to }: RescheduleTasksInput): void {
  checkIds("task_ids", taskIds);
  if ("runInMs" in to) checkInteger("run_in_ms", to.runInMs, { min: 0, max: limits.runInMsMax });
  else checkInstant("run_at", to.runAt);
}

/** A group's name and numbers; their ranges are SQL's. */
export function checkGroup(input: SetGroupInput): void {
  checkKey("group_key", input.groupKey);
  if (input.slots !== undefined) checkInt("slots", input.slots);
}

/** A definition's schedules: names, numbers, instants, and payloads that are the text of a JSON object. */
export function checkSchedules(input: SetSchedulesInput): void {
  checkName(input.name);
  checkInteger("build", input.build, { min: 0, max: Number.MAX_SAFE_INTEGER });
  input.schedules.forEach((schedule, index) => {
    const at = `schedules[${String(index)}]`;
    checkKey(`${at}.name`, schedule.name);
    checkKey(`${at}.kind`, schedule.kind);
    checkKey(`${at}.cron`, schedule.cron);
    checkKey(`${at}.timeZone`, schedule.timeZone);
    if (schedule.group !== null) checkKey(`${at}.group`, schedule.group);
    if (schedule.payload !== null) checkJsonContainer(`${at}.payload`, schedule.payload);
    checkInstant(`${at}.nextRunAt`, schedule.nextRunAt);
  });
}

/** An operator's pause of a schedule. */
export function checkSchedulePause(input: SetSchedulePausedInput): void {
  checkName(input.name);
  checkKey("schedule", input.schedule);
  checkInstant("next_run_at", input.nextRunAt);
}

/** Instants that are some; their order is SQL's. */
export function checkFire(input: FireScheduleInput): void {
  checkInt("schedule_id", input.scheduleId);
  checkInstant("expected_run_at", input.expectedRunAt);
  checkInstant("next_run_at", input.nextRunAt);
  for (const runAt of input.runAts) checkInstant("run_ats", runAt);
}

function checkInstant(field: string, at: Date | null): void {
  if (at === null || !Number.isNaN(at.getTime())) return;
  throw new InvalidArgumentError(`${field}: expected an instant (Invalid Date)`, {
    details: { field },
  });
}

/** A watermark's name, version and value, and the tasks with it. */
export function checkAdvance(input: AdvanceWatermarkInput): void {
  checkKey("watermark", input.watermark);
  checkVersion(input.expectedVersion);
  checkJsonContainer("value", input.value);
  checkNewTasks(input);
}

/** A watermark's name, version and value. */
export function checkSetWatermark(input: SetWatermarkInput): void {
  checkKey("watermark", input.watermark);
  if (input.expectedVersion !== undefined) checkVersion(input.expectedVersion);
  if (input.value !== null) checkJsonContainer("value", input.value);
}

/** A version as answers give it. */
function checkVersion(version: string): void {
  if (isId(version)) return;
  throw new InvalidArgumentError(
    `expected_version: expected 1..19 decimal digits below 2^63 (${cleanText(version, 100)})`,
    { details: { field: "expected_version" } },
  );
}

/** Entries of an enqueue: keys, numbers, and payloads that are the text of a JSON object or array. */
export function checkNewTasks(input: Pick<EnqueueTasksInput, "name" | "tasks">): void {
  checkName(input.name);
  input.tasks.forEach((task, index) => {
    checkNewTask(task, `tasks[${String(index)}]`);
  });
}

function checkNewTask(task: NewTask, at: string): void {
  if (task.kind !== undefined) checkKey(`${at}.kind`, task.kind);
  if (task.group != null) checkKey(`${at}.group`, task.group);
  if (task.dedupeKey !== undefined) checkKey(`${at}.dedupeKey`, task.dedupeKey);
  if (task.priority !== undefined) {
    checkInteger(`${at}.priority`, task.priority, {
      min: limits.priorityMin,
      max: limits.priorityMax,
    });
  }
  if (task.runInMs !== undefined)
    checkInteger(`${at}.runInMs`, task.runInMs, { min: 0, max: limits.runInMsMax });
  if (task.dedupeMs !== undefined)
    checkInteger(`${at}.dedupeMs`, task.dedupeMs, { min: 1, max: limits.runInMsMax });
  checkInstant(`${at}.runAt`, task.runAt ?? null);
  if (task.payload !== null) checkJsonContainer(`${at}.payload`, task.payload);
}

/** JSON text of an object or array, at most 64 KiB of UTF-8. */
export function checkJsonContainer(field: string, text: string): void {
  const bytes = Buffer.byteLength(text);
  if (bytes > limits.payloadBytesMax) {
    throw new InvalidArgumentError(
      `${field}: expected at most ${String(limits.payloadBytesMax)} bytes (${String(bytes)})`,
      {
        code: "TASKGATE_ARG_TOO_LARGE",
        details: { field },
      },
    );
  }
  if (!isJsonContainer(text)) {
    throw new InvalidArgumentError(
      `${field}: expected the text of a JSON object or array (${cleanText(text, 100)})`,
      {
        details: { field },
      },
    );
  }
}

function isJsonContainer(text: string): boolean {
  if (!text.isWellFormed() || text.includes("\u0000")) return false;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null;
  } catch {
    return false;
  }
}

/** Errors are kept as far as they can be: a text that can't be stored must not make the whole call fail. */
export function cleanFailure(failure: Failure): Failure {
  return {
    ...failure,
    error: failure.error === null ? null : cleanText(failure.error, limits.errorLengthMax),
  };
}

/** A completion was told to end its transaction, and there is none. */
export function nothingToEnd(): InvalidArgumentError {
  return new InvalidArgumentError(
    "endsTransaction: expected a transaction to end, got none. Leave it out, or call within `transaction`",
    { details: { field: "endsTransaction" } },
  );
}
