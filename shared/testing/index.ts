/**
 * What tests of one's own tasks need, without a database: the package's entry `taskgate/testing`
 * (docs/guides/testing-your-tasks.md). It runs the shipped worker over the store in memory, which the contract suite
 * holds to the same answers as SQL. For any test runner: nothing here asserts, answers are plain values.
 */
export { runTaskOnce } from "./run-task-once";
export type { RunOnceOptions, TaskEnd, TaskRun } from "./run-task-once";
export { TestBench } from "./test-bench";
export type { DrainReport, SettleReport, TaskFilter, TestBenchOptions } from "./test-bench";
export type { TestTask, TestTaskState } from "./test-task";
export type { EnqueuedTask } from "./enqueued-task";
export type { LogLine } from "./recording-logger";
export type { SqlFake, SqlStatement } from "./sql-fake";
