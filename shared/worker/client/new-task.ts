import { InvalidArgumentError } from "../../core/errors";
import { describeValue, messageOf } from "../../core/foreign-value";
import { isId } from "../../core/ids";
import type { WaveId } from "../../core/ids";
import { jsonTextOf } from "../../core/json-text";
import { storedKind } from "../../core/kind-version";
import { cleanText } from "../../core/text";
import { completeTask } from "../../enqueue/complete-task";
import type { PreparedTask } from "../../enqueue/enqueue-prepared";
import { checkPayload } from "./check-payload";
import { checkKnownKind } from "./known-kind";
import { upgradePayload } from "../define/kind-upgrade";
import type { Registry } from "../define/registry";
import type { AnyTaskKind } from "../define/task-kind";
import type { AnyTaskRef, TaskRequest } from "../define/task-ref";

/** Characters of what a step throws that an answer shows. */
const reasonLengthMax = 400;

/**
 * Turns a request into a row: names from the kind, payload as JSON text, and what the kind says of its tasks: group, dedupe
 * key, priority, delay. A kind of other code is looked up in `registry`. Throws InvalidArgumentError for a payload that isn't
 * a JSON object or array, is too large, or has no key where the kind takes one from, and for a name that its queue in
 * `registry` has no kind of. Key lengths and ranges are checked by SQL.
 */
export function prepareTask(
  request: TaskRequest,
  traceParent: string | null,
  registry: Registry | null = null,
): PreparedTask {
  // Without the payload among the options: an object in which a member is written twice is slow to read.
  const { task, wave, payload: given, ...options } = request;
  const kind = kindOf(task, registry);
  const payload = currentPayload(kind, task, given);
  const owner = task.definition?.name ?? kind?.definition.name ?? task.kind;
  if (kind !== task && registry !== null)
    checkKnownKind(registry, { definition: owner, kind: storedOf(task) });
  const row = {
    ...options,
    kind: kind?.rules.kind ?? storedOf(task),
    payload: payloadText(payload),
    ...(traceParent === null ? {} : { traceParent }),
  };
  return {
    definition: owner,
    ...(wave === undefined ? {} : { waveId: waveOf(wave) }),
    task: completeTask(row, kind, { isBlocked: wave !== undefined, payload }),
  };
}

/**
 * The same for a payload that the kind's schema has seen: at once where the schema answers at once. Throws
 * InvalidArgumentError naming its problems, too.
 */
export function prepareChecked(
  request: TaskRequest,
  traceParent: string | null,
  registry: Registry | null,
): PreparedTask | Promise<PreparedTask> {
  const prepared = prepareTask(request, traceParent, registry);
  const checking = checkPayload(checkerOf(request.task, registry), prepared.task.payload);
  return checking === undefined ? prepared : checking.then(() => prepared);
}

/** The owner of the payload's schema: the app's own kind, or a reference to other code's kind. */
export function checkerOf(task: AnyTaskRef, registry: Registry | null): AnyTaskRef {
  return kindOf(task, registry) ?? task;
}

/** Does this code have the kind's rules? Else only the database knows them. */
export function hasRules(task: AnyTaskRef, registry: Registry | null): boolean {
  return kindOf(task, registry) !== null;
}

/** The kind with its rules, or null: other code has it. */
function kindOf(task: AnyTaskRef, registry: Registry | null): AnyTaskKind | null {
  if ("rules" in task) return task as AnyTaskKind;
  return registry?.kind(storedOf(task)) ?? null;
}

/** The name under which the database keeps tasks of that kind and version. */
function storedOf({ kind, version = 1 }: AnyTaskRef): string {
  return storedKind(kind, version);
}

/** The payload of the version that the app's code has, where it has the kind. */
function currentPayload(
  kind: AnyTaskKind | null,
  { version = 1 }: AnyTaskRef,
  payload: unknown,
): unknown {
  if (kind === null || version === kind.version) return payload;
  return upgraded(kind, { version, payload });
}

/**
 * A payload of an older version as the kind takes it now. Throws InvalidArgumentError naming both versions when a step is missing
 * or throws; with the message of what it throws, whose stack is no answer to a caller.
 */
export function upgraded(
  kind: AnyTaskKind,
  { version, payload }: { version: number; payload: unknown },
): unknown {
  try {
    const answer = upgradePayload(kind, version, payload);
    if ("payload" in answer) return answer.payload;
    throw new Error(answer.problem);
  } catch (error) {
    const field = "payload";
    const reason = cleanText(messageOf(error), reasonLengthMax) || "an error without a message";
    const expected = `what version ${String(version)} of kind ${kind.kind} takes (${reason}). Version ${String(kind.version)} is kind ${kind.rules.kind}`;
    const problem = { field, value: describeValue(payload), expected };
    throw new InvalidArgumentError(`payload: expected ${expected}`, {
      details: { field, problems: [problem] },
      cause: error,
    });
  }
}

function waveOf(wave: string): WaveId {
  if (isId(wave)) return wave as WaveId;
  throw new InvalidArgumentError(`wave: expected an id in decimal digits (${wave.slice(0, 40)})`, {
    details: { field: "wave" },
  });
}

function payloadText(payload: unknown): string | null {
  return payload === null ? null : jsonText("payload", payload);
}

/** JSON text of an object or array, at most 64 KiB; throws InvalidArgumentError naming the field and the value. */
export function jsonText(field: string, value: unknown): string {
  const written = jsonTextOf(field, value, "container");
  if ("text" in written) return written.text;
  throw new InvalidArgumentError(written.problem, {
    code: written.isTooLarge ? "TASKGATE_ARG_TOO_LARGE" : "TASKGATE_ARG_INVALID",
    details: { field },
  });
}
