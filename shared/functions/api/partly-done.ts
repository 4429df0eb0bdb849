/** A request that ended with an error after a part of it was done: the answer tells both. */
export class PartlyDone extends Error {
  override readonly cause: unknown;
  /** The done part, as it is answered. */
  readonly done: object;

  constructor(cause: unknown, done: object) {
    super(cause instanceof Error ? cause.message : String(cause));
    this.cause = cause;
    this.done = done;
  }
}
