/** What a handler throws on purpose. Match by `kind`: the classes may exist twice in a process. */
export type TaskFailureKind = "retry-later" | "give-up" | "cancelled";

/** Base of the deliberate ends of an attempt. */
export class TaskFailure extends Error {
  readonly kind: TaskFailureKind;
  /** Only of `retry-later`. */
  readonly afterMs: number | null;

  constructor(
    kind: TaskFailureKind,
    message: string,
    options: { afterMs?: number; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.kind = kind;
    this.afterMs = options.afterMs ?? null;
  }
}

/** Failed, counted; try again after `afterMs` (0..30 days) instead of the definition's back-off. */
export class RetryLater extends TaskFailure {
  constructor(afterMs: number, message = "the handler asked for a later try", cause?: unknown) {
    super("retry-later", message, { afterMs, cause });
  }
}

/** No further try makes sense: the task becomes a dead letter now. */
export class GiveUp extends TaskFailure {
  constructor(message: string, cause?: unknown) {
    super("give-up", message, { cause });
  }
}

/** The handler ended because of a cancel request. */
export class Cancelled extends TaskFailure {
  constructor(message = "cancelled on request") {
    super("cancelled", message);
  }
}

/** Is this one of the classes above, of any copy of this module? */
export function isTaskFailure(error: unknown): error is TaskFailure {
  return (
    error instanceof Error &&
    "kind" in error &&
    (error.kind === "retry-later" || error.kind === "give-up" || error.kind === "cancelled")
  );
}
