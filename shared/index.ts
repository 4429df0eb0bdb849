/**
 * Tasks, limits and what their handlers get: the package's door `taskgate`. Importing it loads no driver and no telemetry,
 * and changes nothing. `taskgate/functions` puts tasks into a function app; `taskgate/testing` is for their tests.
 */
export { createClient } from "./client/create-client";
export type { Client, ClientOptions, HintQueueAddress } from "./client/create-client";
export { fromMssql } from "./store/from-mssql";
export type { MssqlRequestLike, MssqlTransactionLike } from "./store/from-mssql";
export { fromPg } from "./store/from-pg";
export type { PgClientLike, PgSendStatement } from "./store/from-pg";
export type { DatabaseAddress, DatabaseIdentity } from "./store/open-store";
export { defineLimit, defineQueue } from "./worker/define/define-queue";
export type { QueueOptions, QueueSettings, SharedLimit } from "./worker/define/define-queue";
export { defineSqlTask } from "./worker/define/define-sql-task";
export { defineTask } from "./worker/define/define-task";
export type { TaskOptions } from "./worker/define/define-task";
export type { UpgradeStep, VersionOptions } from "./worker/define/kind-upgrade";
export { taskRef, taskRequest } from "./worker/define/task-ref";
export type {
  AnyTaskRef,
  ChildOptions,
  ClientEnqueueOptions,
  EnqueueArguments,
  EnqueueCalls,
  EnqueueOptions,
  TaskInput,
  TaskRef,
  TaskRequest,
  TaskResult,
} from "./worker/define/task-ref";
export type { AnyTaskKind, Definition, TaskKind } from "./worker/define/task-kind";
export type { MissedPolicy } from "./core/cron";
export type { ScheduleOptions } from "./worker/define/kind-schedules";
export type { BatchCalls, NewBatch } from "./worker/define/batch-calls";
export type {
  BlockRequest,
  MadeBlocks,
  WatermarkCalls,
  WatermarkPosition,
} from "./worker/define/block-options";
export type {
  CancelledTask,
  RedrivenTask,
  RescheduledTask,
  TaskCalls,
  TaskStatus,
} from "./worker/define/task-calls";
export type { EventRoute } from "./worker/define/ingest-event";
export type { IngestEvent } from "./ports/ingest-event";
export type { SchemaIssue, StandardSchema } from "./worker/define/standard-schema";
export type {
  Continuation,
  HandlerResult,
  ResultObject,
  ResultValue,
  TaskContext,
} from "./worker/define/task-context";
export type { DateBlock } from "./core/blocks/date-blocks";
export type { ListBlock } from "./core/blocks/list-blocks";
export type { NumericBlock } from "./core/blocks/numeric-blocks";
export { isId } from "./core/ids";
export type { BatchId, Fence, TaskId, WaveId } from "./core/ids";
export type { JsonArray, JsonObject, JsonPayload, JsonValue } from "./core/json";
export {
  InvalidArgumentError,
  LeaseLostError,
  LimitReachedError,
  SchemaError,
  SettingsError,
  StoreContractError,
  StoreForbiddenError,
  StoreUnavailableError,
  StoreUncertainError,
  TaskgateError,
} from "./core/errors";
export { GiveUp, RetryLater } from "./core/task-failure";
export type { Enqueued } from "./enqueue/enqueue-prepared";
export type { LogFields, Logger } from "./ports/logger";
export type { OpenTelemetryModule } from "./ports/telemetry";
export type { ResultColumn, ResultTable } from "./ports/result-table";
export type {
  FailurePolicy,
  NewTask,
  SqlValue,
  StoreDialect,
  StoreTransaction,
  TaskAttempt,
  TaskFacts,
  TaskStore,
} from "./ports/task-store";
export type { BatchClient } from "./worker/client/batches";
export type { EnqueuedTask, TaskClient } from "./worker/client/client";
export type { Tasks } from "./worker/client/tasks";
export type { Watermarks } from "./worker/client/watermarks";
export type { LocalSample, SampleFile } from "./local/sample";
