import { InvalidArgumentError } from "../errors";
import type { PlannedBlock } from "./planned-block";

/** How much goes into one call. */
export interface TakeLimits<Task> {
  /** Blocks, at least 1. */
  readonly maxBlocks: number;
  readonly maxBytes: number;
  /** The task of a block, as the call carries it. */
  readonly prepare: (block: PlannedBlock) => Task;
  readonly bytesOf: (task: Task) => number;
}

/** What one call makes. */
export interface TakenBlocks<Task> {
  readonly tasks: Task[];
  /** The last block's; null: there is none. */
  readonly last: PlannedBlock | null;
  /** There are more blocks than that: the next call goes on behind them. */
  readonly more: boolean;
}

/**
 * The first blocks of a plan that fit in one call; the plan is read no further than one block more. Throws
 * InvalidArgumentError when all of them lie in the overlap: then no call would ever come further.
 */
export function takeBlocks<Task>(
  plan: Iterable<PlannedBlock>,
  limits: TakeLimits<Task>,
): TakenBlocks<Task> {
  const tasks: Task[] = [];
  let last: PlannedBlock | null = null;
  let bytes = 0;
  for (const block of plan) {
    const task = limits.prepare(block);
    bytes += limits.bytesOf(task);
    if (tasks.length > 0 && (tasks.length === limits.maxBlocks || bytes > limits.maxBytes)) {
      if (last?.isNew !== true) throw tooFarBack(tasks.length);
      return { tasks, last, more: true };
    }
    tasks.push(task);
    last = block;
  }
  return { tasks, last, more: false };
}

function tooFarBack(blocks: number): InvalidArgumentError {
  return new InvalidArgumentError(
    `overlap: expected less than what one call makes (${String(blocks)} blocks lie before the watermark); take larger blocks, more of them, or less overlap`,
    { details: { field: "overlap", blocks } },
  );
}
