import { messageOf } from "../../core/foreign-value";
/** A request that ended with an error after a part of it was done: the answer tells both. */
export class PartlyDone extends Error {
  override readonly cause: unknown;
  /** The done part, as it is answered. */
  readonly done: object;

  constructor(cause: unknown, done: object) {
    super(messageOf(cause));
    this.cause = cause;
    this.done = done;
  }
}
