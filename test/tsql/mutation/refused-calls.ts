import type { ProcedureCall } from "../cases/calls";
import { requestOf } from "../cases/requests";
import { tablesAsText } from "../cases/table-rows";
import { shippedFiles, shippedWorld } from "../shipped/shipped-world";
import { engines } from "../shipped/engines";
import { SimulationError } from "../../tsql-server/engine/sql-error";
import type { World } from "../../tsql-server/engine/world";
import type { Work } from "../../tsql-server/engine/requests";
import { runAlone } from "../../tsql-server/schedule/step";
import { CoverageWatch } from "./check";
import type { Check, Noticed } from "./check";
import { operationCases } from "./operation-cases";
import type { OperationCase } from "./operation-cases";
import { setUp } from "./set-up";

/* A call that is refused for one of its arguments: it is refused before it has done anything. */

/** By procedure: arguments that it refuses, one call each. */
const refused: Readonly<Record<string, readonly ProcedureCall["arguments"][]>> = {
  AcquireTokens: [{ Want: 0 }],
  AdvanceWatermark: [{ Value: "x" }, { Watermark: "" }, { Tasks: "7" }, { Name: "none" }],
  CancelBatch: [{ BatchId: 9 }],
  CancelTasks: [{ TaskIds: "[]" }],
  CompleteTask: [{ Result: "x" }, { Result: `["${"x".repeat(65_536)}"]` }],
  CreateBatch: [{ Waves: 0 }, { Name: "" }, { FailurePolicy: "none" }],
  EnqueueTasks: [{ Tasks: "[]" }, { Tasks: '[{"priority":"x"}]' }, { Name: "none" }],
  FailTasks: [{ Failures: "[]" }],
  FireSchedule: [{ ExpectedRunAt: "x" }, { RunAts: "x" }, { NextRunAt: "x" }],
  Heartbeat: [{ Executions: "[]" }],
  ListAudit: [{ Max: 0 }, { Since: "x" }, { Before: "x" }],
  ListBatches: [{ Max: 0 }],
  ListExecutions: [{ Max: 0 }],
  ListFailures: [{ Max: 0 }, { Name: "none" }],
  ListGroups: [{ Max: 0 }, { Name: "none" }],
  ListSchedules: [{ Max: 0 }, { Name: "none" }],
  ListSharedLimits: [{ Max: 0 }],
  ListStopped: [{ Max: 0 }],
  ListTasks: [
    ...[{ Max: 0 }, { State: "none" }, { Name: "none" }, { After: "x" }, { LookMax: 0 }],
    ...[{ Key: " a" }, { CreatedSince: "now" }, { Path: "a-b", Value: "1" }, { Value: "1" }],
  ],
  ListWatermarks: [{ Max: 0 }, { Name: "none" }],
  PauseDefinition: [{ Name: "none" }],
  PromoteScheduled: [{ Max: 0 }, { Name: "none" }],
  PumpBatch: [{ Max: 0 }, { BatchId: 9 }],
  Purge: [{ Max: 0 }],
  ReadPace: [{ Max: 0 }, { Name: "none" }],
  ReadStatistics: [{ Max: 0 }, { Grain: 2 }, { Name: "none" }],
  ReclaimExpired: [{ Max: 0 }],
  RedriveTasks: [{ TaskIds: "[]" }, { Name: "a" }],
  RegisterApp: [{ App: "" }, { Definitions: "x" }, { Definitions: "[1]" }, { Address: "[]" }],
  RegisterDefinition: [{ LeaseMs: 0 }, { RateCount: 0 }, { SharedLimits: "{}" }],
  ReleaseSurplus: [{ Keep: -1 }],
  ReleaseTokens: [{ Keep: -1 }],
  ReportProgress: [{ Done: -1 }],
  RescheduleTasks: [{ TaskIds: "[]" }, { RunAt: "2026-01-01T00:00:00Z" }],
  ResumeBatch: [{ BatchId: 9 }],
  ResumeDefinition: [{ Name: "none" }],
  RollUpStatistics: [{ Max: 0 }],
  SetDefinitionOwner: [{ App: "" }, { Name: "none" }],
  SetGroup: [{ Slots: 0 }, { Name: "none" }],
  SetLimit: [{ Limit: -2 }, { Name: "none" }],
  SetSchedulePaused: [{ Name: "none" }, { Schedule: "none" }, { NextRunAt: "x" }],
  SetSchedules: [{ Schedules: "x" }, { Schedules: '[{"name":""}]' }, { Name: "none" }],
  SetWatermark: [{ Value: "x" }, { Watermark: "" }, { Name: "none" }],
  SetRate: [{ Count: 0 }, { Burst: 6 }, { Name: "none" }],
  SetSharedLimit: [{ Limit: -2 }, { Name: "" }],
  SetStop: [{ IsOn: null }, { ChangedBy: "x".repeat(201) }],
  StartBatch: [{ BatchId: 9 }],
  StartExecution: [{ Want: 0 }, { Worker: "" }],
  Sweep: [{ Max: 0 }],
  Work: [{ CallNumber: 0 }, { Want: -1 }, { DoneFences: "[]" }],
};

/** Each of those calls, where the call without the bad argument would do something. */
export function refusedCases(): OperationCase[] {
  return operationCases().flatMap((operation) => {
    const { call } = operation;
    if (call.kind !== "procedure") return [];
    return (refused[call.name] ?? badExamples(operation)).map((bad) => ({
      name: `${operation.name} with ${JSON.stringify(bad).slice(0, 40)}`,
      setup: operation.setup,
      call: { ...call, arguments: { ...call.arguments, ...bad } },
    }));
  });
}

/** Errors of a bad argument. */
export const refusalNumbers: readonly number[] = [50_404, 50_413, 50_422];

/** What an operation refuses that isn't named above: of some bad values of each argument those that are refused. */
function badExamples({ setup, call }: OperationCase): readonly ProcedureCall["arguments"][] {
  if (call.kind !== "procedure" || unrefused().includes(call.name)) return [];
  const bad = Object.entries(call.arguments).flatMap(([name, value]) => {
    const values = typeof value === "string" ? ["", "none", "x".repeat(4_001)] : [-1];
    return values.map((one) => ({ [name]: one }));
  });
  const shipped = shippedWorld(engines.azure);
  return bad.filter((one) => {
    const changed = { ...call, arguments: { ...call.arguments, ...one } };
    const { errors } = refusalOf({ name: call.name, setup, call: changed }, shipped);
    return errors.some((error) => refusalNumbers.includes(error));
  });
}

/** Operations that refuse no argument, as their headers say. */
export function unrefused(): readonly string[] {
  return shippedFiles().flatMap(({ name, text }) => {
    const [, procedure] = /^procedures\/([A-Z]\w*)\.sql$/.exec(name) ?? [];
    const raises = /^-- Raises:.*(?:\n-- {3}.*)*/m.exec(text)?.[0] ?? "";
    const refuses = refusalNumbers.some((error) => raises.includes(String(error)));
    return procedure === undefined || refuses ? [] : [procedure];
  });
}

/** What a call is told and leaves: numbers of its errors, and whether anything has changed. */
export interface Refusal {
  readonly errors: readonly number[];
  readonly hasChanged: boolean;
  readonly transactionCount: number;
  /** Of a transaction that is left open: joining calls lock no groups. */
  readonly locks: readonly string[];
}

/**
 * What the caller's session is like. implicit: IMPLICIT_TRANSACTIONS, where operations with a transaction of their own are refused;
 * snapshot: the operation comes first in a transaction of that level, which then goes on; implicit snapshot: IMPLICIT_TRANSACTIONS
 * begin that transaction.
 */
type Session = "plain" | "implicit" | "snapshot" | "implicit snapshot";

export function refusalOf(
  { setup, call }: OperationCase,
  template: World,
  session: Session = "plain",
): Refusal {
  const world = setUp(setup, template);
  const before = tablesAsText(world);
  const connection = world.connect();
  connection.settings.isImplicit = session.startsWith("implicit");
  const run = (work: Work): number[] =>
    runAlone(connection, work).errors.map(({ number }) => number);
  const begins = session === "snapshot" ? `${atSnapshot} BEGIN TRANSACTION;` : atSnapshot;
  const errors = session.endsWith("snapshot")
    ? [...run({ kind: "batch", sql: begins }), ...run(requestOf(call)), ...run(goOn)]
    : run(requestOf(call));
  return {
    errors,
    hasChanged: tablesAsText(world) !== before,
    transactionCount: connection.transactionCount,
    locks: world.locks.describe(),
  };
}

const atSnapshot = "SET TRANSACTION ISOLATION LEVEL SNAPSHOT;";
const goOn: Work = { kind: "batch", sql: "SELECT COUNT(*) FROM Taskgate.TaskDefinition;" };

/** Operations that join their caller's transaction. */
const joining: readonly string[] = ["AdvanceWatermark", "CompleteTask", "EnqueueTasks"];

function isJoining({ call }: OperationCase): boolean {
  return call.kind === "procedure" && joining.includes(call.name);
}

/** Refused calls as checks of mutants. */
export function refusalChecks(): Check[] {
  const shipped = shippedWorld(engines.azure);
  return [
    ...refusedCases().map((operation) => refusalCheck(operation, shipped, "plain")),
    ...[...operationCases(), ...refusedCases().filter(isJoining)].map((operation) =>
      refusalCheck(operation, shipped, "implicit"),
    ),
    ...operationCases()
      .filter(isJoining)
      .flatMap((operation) => [
        refusalCheck(operation, shipped, "snapshot"),
        refusalCheck(operation, shipped, "implicit snapshot"),
      ]),
  ];
}

function refusalCheck(operation: OperationCase, shipped: World, session: Session): Check {
  const watch = new CoverageWatch(shipped);
  const known = JSON.stringify(refusalOf(operation, shipped, session));
  return {
    title: `refusal of ${operation.name} in a session that is ${session}`,
    ran: watch.ran(),
    size: 1,
    run: (template) => {
      const find = (): Refusal => refusalOf(operation, template, session);
      return Promise.resolve(findOther(find, known));
    },
  };
}

function findOther(find: () => Refusal, known: string): Noticed | undefined {
  try {
    const found = JSON.stringify(find());
    return found === known ? undefined : { by: "error", why: `expected ${known}, found ${found}` };
  } catch (error) {
    if (error instanceof SimulationError) return { by: "engine", why: error.message };
    throw error;
  }
}
