import { InvalidArgumentError } from "../core/errors";
import type { WaveId } from "../core/ids";
import { limits } from "../core/limits";
import type { EnqueueTasksAnswer, NewTask } from "../ports/task-store";
import type { TaskKind } from "./define-task";
import type { EnqueueRequest } from "./task-context";

/** A request as the store takes it, with the definition it belongs to. */
export interface PreparedTask {
  definition: string;
  /** Held until it opens. */
  waveId?: WaveId;
  task: NewTask;
}

/**
 * Turns a request into a row: names from the kind, group from the kind's `groupKey`, payload as JSON text.
 * Throws InvalidArgumentError for a payload that isn't a JSON object or array, or too large. What SQL checks by itself
 * (key lengths, ranges) isn't repeated here.
 */
export function prepareTask(request: EnqueueRequest, traceParent: string | null): PreparedTask {
  const { task, definition, payload = null, group, wave, ...options } = request;
  const kind = typeof task === "string" ? null : (task as unknown as TaskKind);
  const name = typeof task === "string" ? task : task.kind;
  const key = group ?? (payload === null ? null : kind?.groupKey?.(payload)) ?? null;
  return {
    definition: definition ?? kind?.definition.name ?? name,
    ...(wave === undefined ? {} : { waveId: wave }),
    task: {
      ...options,
      kind: name,
      payload: payloadText(payload),
      ...(key === null ? {} : { group: key }),
      ...(traceParent === null ? {} : { traceParent }),
    },
  };
}

/** Tasks that go into one call: of one definition, and of one wave or none. In the order of their first ones. */
export function callsOf<Entry extends PreparedTask>(entries: readonly Entry[]): Entry[][] {
  const calls = new Map<string, Entry[]>();
  for (const entry of entries) {
    const key = JSON.stringify([entry.definition, entry.waveId ?? null]);
    const call = calls.get(key) ?? [];
    call.push(entry);
    calls.set(key, call);
  }
  return [...calls.values()];
}

/** Throws when a wave took no tasks any more. */
export function expectInTime(answer: EnqueueTasksAnswer, waveId: WaveId | undefined): void {
  if (answer.status === "enqueued") return;
  throw new InvalidArgumentError(
    `Expected \`wave\` to be one that still takes tasks, got \`${String(waveId)}\`: it was sealed or opened before, or its batch was cancelled; nothing was added to it`,
    { details: { field: "wave", wave: waveId } },
  );
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
