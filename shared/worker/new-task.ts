import { InvalidArgumentError } from "../core/errors";
import { jsonTextOf } from "../core/json-text";
import { completeTask } from "../enqueue/complete-task";
import type { PreparedTask } from "../enqueue/enqueue-prepared";
import { checkKnownKind } from "./known-kind";
import type { Registry } from "./registry";
import type { EnqueueRequest } from "./task-context";

/**
 * Turns a request into a row: names from the kind, payload as JSON text, and what the kind says of its tasks: group, dedupe
 * key, priority, delay. A kind that is named by its text is looked up in `registry`. Throws InvalidArgumentError for a
 * payload that isn't a JSON object or array, is too large, or has no key where the kind takes one from, or for a name that its definition in `registry` has no kind of. What SQL checks by
 * itself (key lengths, ranges) isn't repeated here.
 */
export function prepareTask(
  request: EnqueueRequest,
  traceParent: string | null,
  registry: Registry | null = null,
): PreparedTask {
  const { task, definition, payload = null, wave, ...options } = request;
  const kind = typeof task === "string" ? (registry?.kind(task) ?? null) : task;
  const name = typeof task === "string" ? task : task.kind;
  const owner = definition ?? kind?.definition.name ?? name;
  if (typeof task === "string" && registry !== null)
    checkKnownKind(registry, { definition: owner, kind: name });
  const row = {
    ...options,
    kind: name,
    payload: payloadText(payload),
    ...(traceParent === null ? {} : { traceParent }),
  };
  return {
    definition: owner,
    ...(wave === undefined ? {} : { waveId: wave }),
    task: completeTask(row, kind, { isHeld: wave !== undefined, payload }),
  };
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
