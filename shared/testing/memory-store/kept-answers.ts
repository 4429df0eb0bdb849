import { conflict } from "./arguments";
import type { Memory, OperationRow } from "./state";

/** A call that may be repeated: an operation id names one operation, on one target; null: the call isn't repeated. */
interface KeptCall extends Pick<OperationRow, "name" | "target"> {
  readonly operationId: string | null;
}

/** The answer of the call that had this operation id, for a repeat of it. */
export function firstAnswer<Answer>(
  { state }: Memory,
  { operationId, name, target }: KeptCall,
): Answer | undefined {
  const first = operationId === null ? undefined : state.operations.get(operationId);
  if (operationId === null || first === undefined) return undefined;
  const used = (by: string) => conflict(`operation_id: was used by ${by} (${operationId})`);
  if (first.name !== name) throw used("another operation");
  if (first.target !== target) throw used("a call for another name");
  return first.answer as Answer;
}

/** Keeps the answer of a call for its repeats, and gives it. */
export function keepAnswer<Answer>(
  { state, nowMs }: Memory,
  { operationId, name, target }: KeptCall,
  answer: Answer,
): Answer {
  if (operationId !== null)
    state.operations.set(operationId, { name, target, doneAtMs: nowMs, answer });
  return answer;
}
