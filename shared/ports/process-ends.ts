/** Where a process tells of its end: the part of Node's `process` that is needed. */
export interface ProcessEnds {
  exitCode?: number | string | null | undefined;
  on(event: "exit", listener: () => void): unknown;
  on(event: "uncaughtExceptionMonitor", listener: (error: unknown) => void): unknown;
}
