/** A table of the database. */
export interface TableSize {
  readonly bytes: number;
  readonly live: number;
  readonly dead: number;
}

export interface IndexSize {
  readonly table: string;
  readonly bytes: number;
}

/** What the workers' calls of `work` have cost since the sample before, counted by the server. */
export interface ClaimCost {
  readonly calls: number;
  /** Pages read from the server's memory or from the disk, per call. */
  readonly blocksPerCall: number;
  readonly blocksPerTask: number;
  readonly msPerCall: number;
  /** Rows of tables read by all calls together, per task. */
  readonly rowsPerTask: number;
}

/** One look at a run. Absent figures are null: the server counts anew, or a process didn't answer. */
export interface Sample {
  readonly atMs: number;
  readonly leg: number;
  /** How long the load has lasted, all legs together. */
  readonly ranMs: number;
  readonly memory: {
    /** Of the worker that is never disturbed. */
    readonly elderRss: number | null;
    /** After a collection of garbage. */
    readonly elderHeap: number | null;
    /** All workers that answered, on average. */
    readonly workerRss: number | null;
    readonly workerHeap: number | null;
    /** All of the server's processes; memory that they share counts once. */
    readonly server: number | null;
    readonly soak: number;
  };
  readonly connections: number;
  readonly databaseBytes: number;
  readonly tables: Readonly<Record<string, TableSize>>;
  readonly indexes: Readonly<Record<string, IndexSize>>;
  readonly latency: { readonly p50: number; readonly p99: number; readonly count: number } | null;
  readonly claim: ClaimCost | null;
  /** Since the enqueue of the oldest ready task, of kinds that are ready from then on. */
  readonly oldestReadyMs: number;
  readonly waiting: {
    readonly ready: number;
    readonly scheduled: number;
    readonly grouped: number;
    readonly blocked: number;
    readonly unfinished: number;
  };
  /** Finished tasks that are kept. */
  readonly retained: number;
  readonly counts: { readonly acknowledged: number; readonly begun: number; readonly done: number };
  readonly violations: number;
}
