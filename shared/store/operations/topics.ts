/*
 * The files of the operations, by topic. Such a file exports operations, and nothing else that exists at run time.
 */

export * from "./apps";
export * from "./audit";
export * from "./batches";
export * from "./claims";
export * from "./definitions";
export * from "./enqueue";
export * from "./executions";
export * from "./explain";
export * from "./failure-list";
export * from "./groups";
export * from "./pace";
export * from "./schedules";
export * from "./shared-limits";
export * from "./statistics";
export * from "./stops";
export * from "./task-list";
export * from "./tasks";
export * from "./tokens";
export * from "./upkeep";
export * from "./watermarks";
