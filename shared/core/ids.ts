/**
 * Identities and fences: decimal strings from the database, opaque to code.
 * They never become numbers: 64 bits don't fit one, and only SQL compares fences.
 */

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** A task, for life: a redriven task keeps its id. */
export type TaskId = Branded<"TaskId">;
/** One worker's stay. */
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

/** Takes a text from the database as an execution id. */
export function asExecutionId(text: string): ExecutionId {
  return text as ExecutionId;
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
