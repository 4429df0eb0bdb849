/**
 * Identities and fences: decimal strings from the database, opaque to code.
 * They never become numbers: 64 bits don't fit one, and only SQL compares fences.
 */

/** No value has the member. It is no symbol of ours, which another copy of the package would have for itself. */
type Branded<Name extends string> = string & { readonly "~id": Name };

/** A task, for life: a redriven task keeps its id. */
export type TaskId = Branded<"TaskId">;
/** The row of an execution, as lists, logs and tokens name it. */
export type ExecutionNumber = Branded<"ExecutionNumber">;
/**
 * An execution: the number of its row and the operation id of its start, as `501/6f1c..`. A database that lost its last
 * commits, as in a failover, gives the same numbers again; with the start no worker takes another's execution for its own.
 * The number alone is an id, too: its start isn't compared then.
 */
export type ExecutionId = Branded<"ExecutionId">;
/** Grows with every grant; a write that carries an old one changes nothing. */
export type Fence = Branded<"Fence">;
/**
 * Names one call and its repeats; a UUID made at random, never derived from a message. A batch that a task
 * makes has one that follows from the task's id: a retry is a repeat.
 */
export type OperationId = Branded<"OperationId">;
/** A batch of waves. */
export type BatchId = Branded<"BatchId">;
/** A stage of a batch. */
export type WaveId = Branded<"WaveId">;

const digits = /^[0-9]{1,19}$/;

/** Is this text an id as the database writes it: 1..19 decimal digits, below 2^63? */
export function isId(text: string): boolean {
  return digits.test(text) && BigInt(text) < 2n ** 63n;
}

/** Takes a text from the database or a request as a task id. The caller has tested it with `isId`. */
export function asTaskId(text: string): TaskId {
  return text as TaskId;
}

/** Takes a text from the database as an execution's number. */
export function asExecutionNumber(text: string): ExecutionNumber {
  return text as ExecutionNumber;
}

/** Takes a text as an execution id: one that `executionIdOf` has made, or a number. */
export function asExecutionId(text: string): ExecutionId {
  return text as ExecutionId;
}

/** The execution that a call has started. */
export function executionIdOf(number: string, start: string | null): ExecutionId {
  return (start === null ? number : `${number}/${start}`) as ExecutionId;
}

/** The number of an execution's row. */
export function executionNumber(id: ExecutionId): ExecutionNumber {
  const end = id.indexOf("/");
  return asExecutionNumber(end === -1 ? id : id.slice(0, end));
}

/** The operation id of an execution's start; null: the id has none, and it isn't compared. */
export function executionStart(id: ExecutionId): OperationId | null {
  const end = id.indexOf("/");
  return end === -1 ? null : asOperationId(id.slice(end + 1));
}

/** Takes a text from the database or a request as a batch id. The caller has tested it with `isId`. */
export function asBatchId(text: string): BatchId {
  return text as BatchId;
}

/** Takes a text from the database or a request as a wave id. The caller has tested it with `isId`. */
export function asWaveId(text: string): WaveId {
  return text as WaveId;
}

/** Takes a text from the database as a fence. */
export function asFence(text: string): Fence {
  return text as Fence;
}

/** Takes a UUID as the id of an operation. */
export function asOperationId(text: string): OperationId {
  return text as OperationId;
}
