/**
 * Every operation of the core with its parameters, once: both adapters bind from this table, and a static test
 * compares it with the .sql files of both dialects. `startExecution` is `start_execution` on PostgreSQL and
 * `StartExecution` on SQL Server, `taskExecutionId` is `p_task_execution_id` and `@TaskExecutionId`.
 */

/** How a parameter is declared on either side. Types equal those of the columns, so that no key is converted. */
export const parameterTypes = {
  int: { postgres: "int", mssql: "int" },
  smallint: { postgres: "smallint", mssql: "smallint" },
  bigint: { postgres: "bigint", mssql: "bigint" },
  boolean: { postgres: "boolean", mssql: "bit" },
  uuid: { postgres: "uuid", mssql: "uniqueidentifier" },
  /** Any text, and keys whose length the procedure itself must check before anything is cut. */
  text: { postgres: "text", mssql: "nvarchar(max)" },
  text64: { postgres: "text", mssql: "nvarchar(64)" },
  text200: { postgres: "text", mssql: "nvarchar(200)" },
  /** 64-bit ids: an array there, a JSON array here. */
  ids: { postgres: "bigint[]", mssql: "nvarchar(max)" },
  ints: { postgres: "int[]", mssql: "nvarchar(max)" },
} as const;

/** One of the types above. */
export type ParameterType = keyof typeof parameterTypes;

/** Name and type of one parameter. */
export type Parameter = readonly [name: string, type: ParameterType];

/** The parameters of every operation, in the order of the procedures. */
export const operations = {
  registerDefinition: [
    ["name", "text"],
    ["build", "bigint"],
    ["settingsHash", "text"],
    ["registeredBy", "text200"],
    ["limit", "int"],
    ["leaseMs", "int"],
    ["maxAttempts", "int"],
    ["maxLost", "int"],
    ["retryBaseMs", "int"],
    ["retryCapMs", "int"],
    ["spareMax", "int"],
    ["groupSlots", "int"],
    ["groupStrict", "boolean"],
    ["retainDoneMs", "bigint"],
    ["retainDeadMs", "bigint"],
    ["rateCount", "int"],
    ["ratePeriodMs", "int"],
    ["rateBurst", "int"],
    ["sharedLimits", "text"],
    ["kinds", "text"],
  ],
  setLimit: [
    ["name", "text"],
    ["limit", "int"],
    ["operationId", "uuid"],
    ["changedBy", "text"],
    ["reason", "text"],
  ],
  setRate: [
    ["name", "text"],
    ["count", "int"],
    ["periodMs", "int"],
    ["burst", "int"],
    ["changedBy", "text"],
    ["reason", "text"],
  ],
  setSharedLimit: [
    ["name", "text"],
    ["limit", "int"],
    ["operationId", "uuid"],
    ["changedBy", "text"],
    ["reason", "text"],
  ],
  pauseDefinition: [
    ["name", "text"],
    ["changedBy", "text"],
    ["reason", "text"],
  ],
  resumeDefinition: [
    ["name", "text"],
    ["changedBy", "text"],
    ["reason", "text"],
  ],
  startExecution: [
    ["name", "text"],
    ["operationId", "uuid"],
    ["worker", "text"],
    ["build", "bigint"],
    ["settingsHash", "text64"],
    ["want", "int"],
    ["needsReady", "boolean"],
  ],
  acquireTokens: [
    ["taskExecutionId", "bigint"],
    ["want", "int"],
  ],
  releaseTokens: [
    ["taskExecutionId", "bigint"],
    ["keep", "int"],
  ],
  releaseSurplus: [
    ["taskExecutionId", "bigint"],
    ["keep", "int"],
  ],
  work: [
    ["taskExecutionId", "bigint"],
    ["callNumber", "bigint"],
    ["doneTaskIds", "ids"],
    ["doneFences", "ids"],
    ["doneDurationsMs", "ints"],
    ["doneResults", "text"],
    ["startedTaskIds", "ids"],
    ["want", "int"],
    ["afterPriority", "smallint"],
    ["afterRank", "bigint"],
    ["afterTaskId", "bigint"],
  ],
  completeTask: [
    ["taskExecutionId", "bigint"],
    ["taskId", "bigint"],
    ["fence", "bigint"],
    ["durationMs", "int"],
    ["result", "text"],
  ],
  failTasks: [
    ["taskExecutionId", "bigint"],
    ["failures", "text"],
  ],
  heartbeat: [["executions", "text"]],
  reportProgress: [
    ["taskExecutionId", "bigint"],
    ["taskId", "bigint"],
    ["fence", "bigint"],
    ["done", "bigint"],
    ["total", "bigint"],
    ["text", "text"],
  ],
  finishExecution: [["taskExecutionId", "bigint"]],
  reclaimExpired: [["most", "int"]],
  enqueueTasks: [
    ["name", "text"],
    ["build", "bigint"],
    ["tasks", "text"],
    ["operationId", "uuid"],
    ["joinsTransaction", "boolean"],
    ["waveId", "bigint"],
  ],
  createBatch: [
    ["operationId", "uuid"],
    ["name", "text"],
    ["failurePolicy", "text"],
    ["waves", "int"],
  ],
  startBatch: [
    ["batchId", "bigint"],
    ["seal", "boolean"],
  ],
  pumpBatch: [
    ["batchId", "bigint"],
    ["most", "int"],
  ],
  resumeBatch: [["batchId", "bigint"]],
  cancelBatch: [["batchId", "bigint"]],
  listBatches: [
    ["batchId", "bigint"],
    ["before", "bigint"],
    ["most", "int"],
  ],
  promoteScheduled: [
    ["name", "text"],
    ["most", "int"],
  ],
  cancelTasks: [
    ["taskIds", "ids"],
    ["reason", "text"],
  ],
  redriveTasks: [
    ["taskIds", "ids"],
    ["name", "text"],
    ["kind", "text"],
    ["outcome", "text"],
    ["most", "int"],
  ],
  rescheduleTasks: [
    ["taskIds", "ids"],
    ["runInMs", "bigint"],
    ["runAt", "text"],
  ],
  setGroup: [
    ["name", "text"],
    ["groupKey", "text"],
    ["groupScope", "text"],
    ["slots", "int"],
    ["paused", "boolean"],
    ["isStrict", "boolean"],
    ["changedBy", "text"],
    ["reason", "text"],
  ],
  advanceWatermark: [
    ["name", "text"],
    ["watermark", "text"],
    ["expectedVersion", "bigint"],
    ["value", "text"],
    ["build", "bigint"],
    ["tasks", "text"],
    ["operationId", "uuid"],
  ],
  setWatermark: [
    ["name", "text"],
    ["watermark", "text"],
    ["value", "text"],
    ["expectedVersion", "bigint"],
    ["operationId", "uuid"],
    ["changedBy", "text"],
    ["reason", "text"],
  ],
  listWatermarks: [
    ["name", "text"],
    ["watermark", "text"],
    ["most", "int"],
  ],
  setSchedules: [
    ["name", "text"],
    ["build", "bigint"],
    ["schedules", "text"],
    ["changedBy", "text"],
  ],
  setSchedulePaused: [
    ["name", "text"],
    ["schedule", "text"],
    ["paused", "boolean"],
    ["nextRunAt", "text"],
    ["changedBy", "text"],
    ["reason", "text"],
  ],
  fireSchedule: [
    ["scheduleId", "int"],
    ["expectedRunAt", "text"],
    ["runAts", "text"],
    ["nextRunAt", "text"],
  ],
  listSchedules: [
    ["name", "text"],
    ["most", "int"],
  ],
  sweep: [["most", "int"]],
  purge: [["most", "int"]],
  listDefinitions: [["name", "text"]],
  listExecutions: [
    ["name", "text"],
    ["isOpen", "boolean"],
    ["most", "int"],
  ],
  listTasks: [
    ["name", "text"],
    ["state", "text"],
    ["most", "int"],
  ],
  listGroups: [
    ["name", "text"],
    ["groupKey", "text"],
    ["most", "int"],
  ],
  listSharedLimits: [
    ["name", "text"],
    ["most", "int"],
  ],
  explainTask: [["taskId", "bigint"]],
  checkInvariants: [],
} as const satisfies Record<string, readonly Parameter[]>;

/** The name of an operation. */
export type OperationName = keyof typeof operations;

/** What a parameter carries: lists of ids and numbers stay arrays until an adapter binds them. */
export type ParameterValue =
  string | number | boolean | null | readonly string[] | readonly number[];

/** One answer row; keys in camelCase, 64-bit numbers as strings. */
export type AnswerRow = Readonly<Record<string, string | number | boolean | null>>;

/** `taskExecutionId` -> `task_execution_id`. */
export function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** `taskExecutionId` -> `TaskExecutionId`. */
export function toPascalCase(name: string): string {
  return name.slice(0, 1).toUpperCase() + name.slice(1);
}

/** A column name of either dialect as camelCase: `task_ids` and `TaskIds` -> `taskIds`. */
export function toCamelCase(name: string): string {
  return (
    name.slice(0, 1).toLowerCase() +
    name.slice(1).replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
  );
}
