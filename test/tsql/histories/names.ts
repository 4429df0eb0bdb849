import type { ExecutionId, OperationId } from "../../../shared/core/ids";
import { asOperationId, executionNumber } from "../../../shared/core/ids";

/** What a store makes up and a history names. */
export type NameKind =
  | "batch"
  | "definition"
  | "execution"
  | "fence"
  | "schedule"
  | "task"
  | "wave";

/** Between one store's ids and the names that all stores share. */
export class Names {
  readonly #ids = new Map<string, string>();
  readonly #names = new Map<string, string>();

  /** The first name stays: a repeat of a call gets what the first one got. */
  bind(kind: NameKind, name: string, id: string): void {
    const key = keyOf(kind, id);
    if (this.#names.has(key)) return;
    this.#names.set(key, name);
    this.#ids.set(`${kind} ${name}`, id);
  }

  /** undefined: nothing got that name here, for the call that would have has been taken out. */
  idOf(kind: NameKind, name: string): string | undefined {
    return this.#ids.get(`${kind} ${name}`);
  }

  /** An id that no answer told is shown as what it is: it can't be equal on two stores. */
  nameOf(kind: NameKind, id: string): string {
    return this.#names.get(keyOf(kind, id)) ?? `an untold ${kind} (${id})`;
  }
}

/** Tables and lists tell an execution's number alone. */
function keyOf(kind: NameKind, id: string): string {
  return `${kind} ${kind === "execution" ? executionNumber(id as ExecutionId) : id}`;
}

/** Operation ids are the caller's own: the same on all stores. Letters show whether case matters somewhere. */
export function operationIdOf(number: number): OperationId {
  return asOperationId(`abcdef00-0000-4000-8000-${String(number).padStart(12, "0")}`);
}
