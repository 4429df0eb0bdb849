-- Roles: workers and operators execute operations and read the log and the schema's version, by which they know whether they
-- fit; only the owner touches another table. Safe to run again.
-- Procedures reach the tables because one owner has all of them (ownership chaining). Make your users members of a role:
-- ALTER ROLE TaskgateWorker ADD MEMBER [name of the managed identity];
-- Twin: postgres/sql/roles.sql
GRANT SELECT ON OBJECT::Taskgate.vExecutionLog TO TaskgateWorker, TaskgateOperator;
GO
GRANT SELECT ON OBJECT::Taskgate.SchemaVersion TO TaskgateWorker, TaskgateOperator;
GO
-- Generated: npm run generate
GRANT EXECUTE ON OBJECT::Taskgate.AcquireTokens TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.AdvanceWatermark TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.CompleteTask TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.CreateBatch TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.EnqueueTasks TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.ExplainTask TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.FailTasks TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.FinishExecution TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.FireSchedule TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.Heartbeat TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.ListApps TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.ListAudit TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.ListBatches TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.ListDefinitions TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.ListExecutions TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.ListFailures TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.ListGroups TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.ListSchedules TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.ListSharedLimits TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.ListStopped TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.ListTasks TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.ListWatermarks TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.PromoteScheduled TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.PumpBatch TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.Purge TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.ReadFreeTokens TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.ReadPace TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.ReadStatistics TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.ReclaimExpired TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.RegisterApp TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.RegisterDefinition TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.ReleaseSurplus TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.ReleaseTokens TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.ReportProgress TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.RollUpStatistics TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.SetSchedules TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.StartBatch TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.StartExecution TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.Sweep TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.Work TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.CancelBatch TO TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.CancelTasks TO TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.CheckInvariants TO TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.PauseDefinition TO TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.RedriveTasks TO TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.RescheduleTasks TO TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.ResumeBatch TO TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.ResumeDefinition TO TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.SetDefinitionOwner TO TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.SetGroup TO TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.SetLimit TO TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.SetRate TO TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.SetSchedulePaused TO TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.SetSharedLimit TO TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.SetStop TO TaskgateOperator;
GO
GRANT EXECUTE ON OBJECT::Taskgate.SetWatermark TO TaskgateOperator;
GO
-- End of the generated part
-- The procedures declare variables of these types. EXECUTE on a type is needed for that, and ownership chaining isn't documented to
-- cover it: it speaks of objects.
GRANT EXECUTE ON TYPE::Taskgate.EndedTaskList TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON TYPE::Taskgate.GroupedTaskList TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON TYPE::Taskgate.WaveTaskList TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON TYPE::Taskgate.ReplacementList TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON TYPE::Taskgate.KeyLockList TO TaskgateWorker, TaskgateOperator;
GO
GRANT EXECUTE ON TYPE::Taskgate.TaskIdList TO TaskgateWorker, TaskgateOperator;
GO
