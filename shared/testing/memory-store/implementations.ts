/*
 * The files of the operations' implementations: each operation is a function of the rows and the checked input.
 */

export * from "./apps";
export * from "./batches";
export * from "./cancel";
export * from "./claims";
export * from "./cron-schedules";
export * from "./definitions";
export * from "./enqueue";
export * from "./executions";
export * from "./explain";
export * from "./failures";
export * from "./free-tokens";
export * from "./group-settings";
export * from "./invariants";
export * from "./list-audit";
export * from "./list-failures";
export * from "./list-tasks";
export * from "./purge";
export * from "./rates";
export * from "./read-models";
export * from "./read-pace";
export * from "./reclaim";
export * from "./redrive";
export * from "./reschedule";
export * from "./schedule";
export * from "./shared-limits";
export * from "./statistics";
export * from "./stops";
export * from "./tokens";
export * from "./watermarks";
