import type { AnswerOf, InputOf, Operation } from "./operation";
import * as topics from "./topics";

/** The port's methods that are operations: each one procedure call, one transaction, one round trip. */
export interface StoreOperations
  extends
    topics.AppOperations,
    topics.AuditOperations,
    topics.BatchOperations,
    topics.ClaimOperations,
    topics.DefinitionOperations,
    topics.EnqueueOperations,
    topics.ExecutionOperations,
    topics.ExplainOperations,
    topics.FailureListOperations,
    topics.GroupOperations,
    topics.PaceOperations,
    topics.ScheduleOperations,
    topics.SharedLimitOperations,
    topics.StatisticOperations,
    topics.StopOperations,
    topics.TaskListOperations,
    topics.TaskOperations,
    topics.TokenOperations,
    topics.UpkeepOperations,
    topics.WatermarkOperations {}

/** The name of an operation. */
export type OperationName = keyof StoreOperations;

/** Every operation by its name. */
export const operations: {
  readonly [Name in OperationName]: Operation<
    InputOf<StoreOperations[Name]>,
    AnswerOf<StoreOperations[Name]>
  >;
} = { ...topics };
