/** The settings that decide about the plan of a text: part of its compiled form. */
export interface PlanOptions {
  /** Schemas whose modules are under test: strict paths and names (access path, strict mode). Default: none. */
  readonly strictSchemas: readonly string[];
  /** Other ways to be taken than the rule's, by access (`accessName` of table-scan.ts): safety must hold on any plan. */
  readonly forcedPaths: ReadonlyMap<string, ForcedPath>;
}

/** One way to a table's rows: through an index, by what its key says or from end to end. */
export interface ForcedPath {
  readonly index: string;
  readonly isScan: boolean;
}

/** The three engines, and the switches where sources leave doubt: safety must hold under all of them. */
export interface EngineOptions extends PlanOptions {
  /** READ_COMMITTED_SNAPSHOT when the world begins. */
  readonly isVersioned: boolean;
  /** Locks of rows go after the write, the transaction's stays (L19); with versions also lock after qualification (L20). */
  readonly hasOptimizedLocking: boolean;
  /** L12: a hinted lock of a row that its own operator rejects stays. */
  readonly keepsRejected: boolean;
  /** Index after index, instead of row after row. */
  readonly hasWideUpdates: boolean;
  /** L21: READPAST steps over a row of a live transaction whose key lock is gone; else it waits. */
  readonly skipsLiveTransactions: boolean;
  /** Each row is written before the next one is looked for. */
  readonly pipelinesWrites: boolean;
  /** L22: who dies in a deadlock. */
  readonly victim: "cheapest" | "last";
  /** Deleted entries stay after the commit until `cleanGhosts`, so that they can be counted. */
  readonly keepsGhosts: boolean;
  /**
   * Rows come the other way round wherever no ORDER BY promises an order, as equal ones of a sort do. An order that is only
   * usual isn't to be relied on.
   */
  readonly rowsBackwards: boolean;
  /** Those of a TOP as well, which then reads and locks all that fit: for callers that meet no others. */
  readonly topsBackwards: boolean;
  /** Where the ids that NEWID makes come from. */
  readonly seed: number;
}

const common: EngineOptions = {
  strictSchemas: [],
  forcedPaths: new Map(),
  isVersioned: false,
  hasOptimizedLocking: false,
  keepsRejected: true,
  hasWideUpdates: true,
  skipsLiveTransactions: true,
  pipelinesWrites: false,
  victim: "cheapest",
  keepsGhosts: false,
  rowsBackwards: false,
  topsBackwards: false,
  seed: 1,
};

export type EngineName = "locking" | "versioned" | "azure";

/** SQL Server as installed; with READ_COMMITTED_SNAPSHOT on; Azure SQL Database. */
export const engines: Readonly<Record<EngineName, EngineOptions>> = {
  locking: common,
  versioned: { ...common, isVersioned: true },
  azure: { ...common, isVersioned: true, hasOptimizedLocking: true },
};
