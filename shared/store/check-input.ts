import { InvalidArgumentError } from "../core/errors";
import { limits } from "../core/limits";
import { checkInteger, checkKey, cleanText } from "../core/text";
import type {
  EnqueueTasksInput,
  Failure,
  NewTask,
  RegisterDefinitionInput,
} from "../ports/task-store";

/*
 * What SQL can't check by itself, or only too late: texts that can't be stored as they are, numbers that would lose
 * their field's name on the way. Every store calls these first. SQL checks the rest, and everything again for SQL users.
 */

/** Names of the operator's and the worker's calls. */
export function checkName(name: string): void {
  checkKey("name", name);
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
}

/** A whole number that becomes an `int` parameter. */
export function checkInt(field: string, value: number): void {
  checkInteger(field, value, { min: -2_147_483_648, max: 2_147_483_647 });
}

/** Entries of an enqueue: keys, numbers, and payloads that are the text of a JSON object or array. */
export function checkNewTasks(input: EnqueueTasksInput): void {
  checkName(input.name);
  input.tasks.forEach((task, index) => {
    checkNewTask(task, `tasks[${String(index)}]`);
  });
}

function checkNewTask(task: NewTask, at: string): void {
  if (task.kind !== undefined) checkKey(`${at}.kind`, task.kind);
  if (task.group !== undefined) checkKey(`${at}.group`, task.group);
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
  if (task.runAt !== undefined && Number.isNaN(task.runAt.getTime())) {
    throw new InvalidArgumentError(`${at}.runAt: expected an instant (Invalid Date)`, {
      details: { field: `${at}.runAt` },
    });
  }
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
