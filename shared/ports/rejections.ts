/** Where a process tells of unhandled rejected promises: the part of Node's `process` that is needed. */
export interface RejectionSource {
  on(event: "unhandledRejection", listener: (reason: unknown) => void): unknown;
  off(event: "unhandledRejection", listener: (reason: unknown) => void): unknown;
  listeners(event: "unhandledRejection"): readonly unknown[];
}
