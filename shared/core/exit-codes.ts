/** Exit codes by which a process of workers says why it ended by itself; stable, for the supervisor that restarts it. */
export const workerExitCodes = {
  /** A handler ran on after its time-out and its grace: only the end of the process ends it. Start it again. */
  stuck: 75,
} as const;
