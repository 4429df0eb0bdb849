import * as apps from "./apps";
import type { AppOperations } from "./apps";
import * as audit from "./audit";
import type { AuditOperations } from "./audit";
import * as batches from "./batches";
import type { BatchOperations } from "./batches";
import * as claims from "./claims";
import type { ClaimOperations } from "./claims";
import * as definitions from "./definitions";
import type { DefinitionOperations } from "./definitions";
import * as enqueue from "./enqueue";
import type { EnqueueOperations } from "./enqueue";
import * as executions from "./executions";
import type { ExecutionOperations } from "./executions";
import * as explain from "./explain";
import type { ExplainOperations } from "./explain";
import * as failureList from "./failure-list";
import type { FailureListOperations } from "./failure-list";
import * as groups from "./groups";
import type { GroupOperations } from "./groups";
import type { AnswerOf, InputOf, Operation } from "./operation";
import * as pace from "./pace";
import type { PaceOperations } from "./pace";
import * as schedules from "./schedules";
import type { ScheduleOperations } from "./schedules";
import * as sharedLimits from "./shared-limits";
import type { SharedLimitOperations } from "./shared-limits";
import * as statistics from "./statistics";
import type { StatisticOperations } from "./statistics";
import * as stops from "./stops";
import type { StopOperations } from "./stops";
import * as taskList from "./task-list";
import type { TaskListOperations } from "./task-list";
import * as tasks from "./tasks";
import type { TaskOperations } from "./tasks";
import * as tokens from "./tokens";
import type { TokenOperations } from "./tokens";
import * as upkeep from "./upkeep";
import type { UpkeepOperations } from "./upkeep";
import * as watermarks from "./watermarks";
import type { WatermarkOperations } from "./watermarks";

/** The port's methods that are operations: each one procedure call, one transaction, one round trip. */
export interface StoreOperations
  extends
    AppOperations,
    AuditOperations,
    BatchOperations,
    ClaimOperations,
    DefinitionOperations,
    EnqueueOperations,
    ExecutionOperations,
    ExplainOperations,
    FailureListOperations,
    GroupOperations,
    PaceOperations,
    ScheduleOperations,
    SharedLimitOperations,
    StatisticOperations,
    StopOperations,
    TaskListOperations,
    TaskOperations,
    TokenOperations,
    UpkeepOperations,
    WatermarkOperations {}

/** The name of an operation. */
export type OperationName = keyof StoreOperations;

/** Every operation by its name. A file of this folder exports operations and nothing else that exists at run time. */
export const operations: {
  readonly [Name in OperationName]: Operation<
    InputOf<StoreOperations[Name]>,
    AnswerOf<StoreOperations[Name]>
  >;
} = {
  ...apps,
  ...audit,
  ...batches,
  ...claims,
  ...definitions,
  ...enqueue,
  ...executions,
  ...explain,
  ...failureList,
  ...groups,
  ...pace,
  ...schedules,
  ...sharedLimits,
  ...statistics,
  ...stops,
  ...taskList,
  ...tasks,
  ...tokens,
  ...upkeep,
  ...watermarks,
};
