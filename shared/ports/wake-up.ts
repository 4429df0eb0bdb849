/**
 * Hints that there may be work. Losing one costs time until the next sweep, never work; a spare one costs one read.
 */
export interface WakeUp {
  /** Leaves a hint for a definition, to arrive after `inMs` (default 0; longer than 6 days is cut to that). Never throws. */
  hint(definition: string, options?: HintOptions): Promise<void>;
}

/** What a hint may carry. */
export interface HintOptions {
  inMs?: number;
  traceParent?: string;
  /** An instant of one of the definition's schedules: a woken worker fires those first. */
  forSchedule?: boolean;
  /** At most so many tasks became ready. Left out: not known. */
  tasks?: number;
  /** A worker of the definition has ended, and left tasks that are ready. */
  isRest?: boolean;
  /** For another worker: the one that leaves the hint has all the tasks that it can take, and there may be more. */
  isForMore?: boolean;
  /** The database has just told of a free token and of a task for it, or that a worker that asks is given a token. */
  isSure?: boolean;
}
