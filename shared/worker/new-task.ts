import { InvalidArgumentError } from "../core/errors";
import { limits } from "../core/limits";
import { completeTask } from "../enqueue/complete-task";
import type { PreparedTask } from "../enqueue/enqueue-prepared";
import type { Registry } from "./registry";
import type { EnqueueRequest } from "./task-context";

/**
 * Turns a request into a row: names from the kind, payload as JSON text, and what the kind says of its tasks: group, dedupe
 * key, priority, delay. A kind that is named by its text is looked up in `registry`. Throws InvalidArgumentError for a
 * payload that isn't a JSON object or array, is too large, or has no key where the kind takes one from. What SQL checks by
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
  const row = {
    ...options,
    kind: name,
    payload: payloadText(payload),
    ...(traceParent === null ? {} : { traceParent }),
  };
  return {
    definition: definition ?? kind?.definition.name ?? name,
    ...(wave === undefined ? {} : { waveId: wave }),
    task: completeTask(row, kind, { isHeld: wave !== undefined, payload }),
  };
}

function payloadText(payload: unknown): string | null {
  if (payload === null) return null;
  if (typeof payload !== "object") {
    throw new InvalidArgumentError(
      `Expected \`payload\` to be a JSON object or array, got \`${typeof payload}\``,
      { details: { field: "payload" } },
    );
  }
  return jsonText("payload", payload);
}

/** JSON text of at most 64 KiB; throws InvalidArgumentError naming the field. */
export function jsonText(field: string, value: object): string {
  const text = JSON.stringify(value);
  const bytes = Buffer.byteLength(text);
  if (bytes > limits.payloadBytesMax) {
    throw new InvalidArgumentError(
      `Expected \`${field}\` to be at most ${String(limits.payloadBytesMax)} bytes of JSON, got \`${String(bytes)}\`; keep larger data elsewhere and pass a reference`,
      { code: "TASKGATE_ARG_TOO_LARGE", details: { field, bytes } },
    );
  }
  return text;
}
