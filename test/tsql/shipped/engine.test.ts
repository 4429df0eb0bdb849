import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { operations } from "../../../shared/store/operations";
import type { OperationName } from "../../../shared/store/operations";
import { toPascalCase } from "../../../shared/store/operations/operation";
import { withoutValues } from "../../../shared/store/mssql/mssql-grant";
import { runAlone } from "../../tsql-server/schedule/step";
import type { SqlValue } from "../../tsql-server/values";
import { callOf } from "../../tsql-server/engine/call";
import type { Connection } from "../../tsql-server/engine/connection";
import type { EngineArgument } from "../../tsql-server/tds/engine-port";
import { tokensOfBefore } from "../cases/calls";
import { exampleCall } from "../cases/example-call";
import { requestOf } from "../cases/requests";
import { shippedFiles, shippedWorld } from "./shipped-world";
import { procedureProgram } from "../../tsql-server/engine/procedures";
import type { EngineName } from "../../tsql-server/engine/options";
import { engines } from "./engines";
import { plainDefinition } from "./plain-definition";
import { Coverage } from "../../tsql-server/engine/metrics";
import type { World } from "../../tsql-server/engine/world";

/*
 * Every shipped procedure is run on the engine, by one caller, through a task's whole life. What the answers are is the
 * contract suite's business; here it is that the engine executes every form, and that nothing is broken afterwards.
 */

const root = join(__dirname, "../../..");

class Caller {
  readonly world: World;
  readonly connection: Connection;
  readonly called = new Set<string>();

  constructor(engine: EngineName) {
    this.world = shippedWorld(engines[engine]);
    this.connection = this.world.connect();
  }

  call(name: string, values: Record<string, SqlValue> = {}): Record<string, SqlValue> {
    this.called.add(name);
    const answer = runAlone(this.connection, callOf(this.world, `Taskgate.${name}`, values));
    const [error] = answer.errors;
    if (error !== undefined) throw error;
    expect(answer.rowSets).toHaveLength(1);
    return answer.objects()[0] ?? {};
  }

  error(name: string, values: Record<string, SqlValue>): number | undefined {
    return runAlone(this.connection, callOf(this.world, `Taskgate.${name}`, values)).errors[0]
      ?.number;
  }

  enqueue(tasks: object[], more: Record<string, SqlValue> = {}): Record<string, SqlValue> {
    return this.call("EnqueueTasks", {
      Name: "mail",
      Build: 1,
      Tasks: JSON.stringify(tasks),
      ...more,
    });
  }

  start(want: number): SqlValue {
    const answer = this.call("StartExecution", {
      Name: "mail",
      OperationId: this.connection.random.guid(),
      Worker: "worker",
      Build: 1,
      SettingsHash: "h",
      Want: want,
      NeedsReady: 0,
    });
    expect(answer["Status"]).toBe("started");
    return answer["TaskExecutionId"] ?? null;
  }

  work(
    execution: SqlValue,
    callNumber: number,
    more: Record<string, SqlValue> = {},
  ): Record<string, SqlValue> {
    return this.call("Work", { TaskExecutionId: execution, CallNumber: callNumber, ...more });
  }

  expectSound(): void {
    expect(this.call("CheckInvariants")).toEqual({ Status: "sound", Findings: "[]" });
  }
}

function ids(answer: Record<string, SqlValue>): string[] {
  return String(answer["TaskIds"] ?? "")
    .split(",")
    .filter((id) => id !== "");
}

/** A life of tasks that meets every procedure. */
function liveThrough(caller: Caller): void {
  caller.call("RegisterDefinition", { Name: "mail", ...plainDefinition });
  caller.enqueue([
    { payload: '{"a":1}' },
    { payload: '{"a":2}', group: "g", priority: 5 },
    { payload: '{"a":3}', group: "g" },
    { payload: "[4]", runInMs: 5_000, dedupeKey: "k" },
    {
      payload: "[5]",
      dedupeKey: "w",
      dedupeMs: 1_000,
      trace: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    },
  ]);
  caller.expectSound();
  const execution = caller.start(2);
  const first = caller.work(execution, 1, { Want: 3 });
  expect(first).toMatchObject({ Status: "claimed", TaskIds: "2,1,5", Started: 2 });
  const fence = first["Fence"] ?? null;
  expect(caller.work(execution, 1, { Want: 3 })).toMatchObject({
    Status: "again",
    TaskIds: "2,1,5",
  });
  caller.call("ReportProgress", {
    TaskExecutionId: execution,
    TaskId: 1,
    Fence: fence,
    Done: 1,
    Total: 2,
    Text: "half",
  });
  caller.call("Heartbeat", {
    Executions: JSON.stringify([{ execution: String(execution), started: ["5"] }]),
  });
  caller.expectSound();
  expect(caller.call("ExplainTask", { TaskId: 3 })["Facts"]).toContain('"state":"waiting"');
  expect(caller.call("ExplainTask", { TaskId: 1 })["Facts"]).toContain(
    '"progress":{"done":1,"total":2,"text":"half"}',
  );
  // The group's next task becomes ready as the first one ends.
  const second = caller.work(execution, 2, {
    DoneTaskIds: '["2"]',
    DoneFences: JSON.stringify([String(fence)]),
    DoneDurationsMs: "[17]",
    DoneResults: '["{\\"ok\\":true}"]',
    Want: 5,
  });
  expect(ids(second)).toEqual(["3"]);
  caller.expectSound();
  const failed = caller.call("FailTasks", {
    TaskExecutionId: execution,
    Failures: JSON.stringify([
      { task: "1", fence: String(fence), as: "failed", error: "no", durationMs: 3 },
      {
        task: "3",
        fence: String(second["Fence"]),
        as: "continued",
        retryInMs: 10,
        checkpoint: "{}",
      },
    ]),
  });
  expect(failed["Results"]).toMatch(/"outcome":"retry".*"outcome":"continued"/);
  caller.expectSound();
  expect(
    caller.call("CompleteTask", { TaskExecutionId: execution, TaskId: 5, Fence: fence })["Status"],
  ).toBe("done");
  caller.world.clock += 10_000;
  expect(caller.call("PromoteScheduled", { Name: "mail", Max: 100 })["Promoted"]).toBe(3);
  caller.call("AcquireTokens", { TaskExecutionId: execution, Want: 3 });
  caller.call("SetLimit", {
    Name: "mail",
    Limit: 1,
    OperationId: caller.connection.random.guid(),
    ChangedBy: "me",
  });
  expect(caller.call("ReleaseSurplus", { TaskExecutionId: execution, Keep: 0 })["Freed"]).toBe(2);
  caller.call("SetLimit", {
    Name: "mail",
    Limit: null,
    OperationId: caller.connection.random.guid(),
    ChangedBy: "me",
  });
  caller.call("ReleaseTokens", { TaskExecutionId: execution, Keep: 1 });
  caller.expectSound();
  caller.call("PauseDefinition", { Name: "mail", ChangedBy: "me" });
  expect(caller.work(execution, 3, { Want: 1 })["Status"]).toBe("paused");
  caller.call("ResumeDefinition", { Name: "mail", ChangedBy: "me" });
  expect(ids(caller.work(execution, 4, { Want: 5 }))).toHaveLength(2);
  // The worker dies.
  caller.world.clock += 100_000;
  expect(caller.call("Sweep", { Max: 10 })).toMatchObject({ Status: "swept", Expired: 1 });
  expect(caller.call("ReclaimExpired", { Max: 10 })).toMatchObject({
    Status: "reclaimed",
    TasksBack: 2,
  });
  caller.expectSound();
  caller.call("ListDefinitions");
  caller.call("ListExecutions", { Name: "mail", IsOpen: 0, Max: 10 });
  for (const State of ["ready", "scheduled", "waiting", "claimed", "done", "dead", "cancelled"]) {
    caller.call("ListTasks", { Name: "mail", State, Max: 10 });
  }
  const last = caller.start(1);
  caller.work(last, 1, { Want: 1 });
  expect(caller.call("FinishExecution", { TaskExecutionId: last })).toMatchObject({
    Status: "ended",
    GivenBack: 1,
    TokensFreed: 1,
  });
  caller.expectSound();
}

/** A batch of two waves to its end, and one that is cancelled. */
function liveThroughBatches(caller: Caller): void {
  const create = (Waves: number): Record<string, SqlValue> =>
    caller.call("CreateBatch", {
      OperationId: caller.connection.random.guid(),
      Name: "night",
      FailurePolicy: "halt",
      Waves,
    });
  const { Batch = null, Waves } = create(2);
  const extra: string[] = [];
  for (const WaveId of JSON.parse(String(Waves)) as string[]) {
    const { TaskIds } = caller.enqueue([{ payload: "[6]", priority: -1 }, { payload: "[6]" }], {
      WaveId,
    });
    extra.push((JSON.parse(String(TaskIds)) as string[])[1] ?? "");
  }
  caller.expectSound();
  expect(caller.call("StartBatch", { BatchId: Batch, Seal: 1 })["Status"]).toBe("started");
  for (let wave = 1; wave <= 2; wave += 1) {
    caller.call("PumpBatch", { BatchId: Batch, Max: 100 });
    // One more of this wave is cancelled, comes back to it, and is cancelled again.
    const TaskIds = `["${extra[wave - 1] ?? ""}"]`;
    caller.call("CancelTasks", { TaskIds });
    caller.call("RedriveTasks", { TaskIds });
    caller.expectSound();
    caller.call("CancelTasks", { TaskIds });
    const execution = caller.start(1);
    const claimed = caller.work(execution, 1, { Want: 1 });
    expect(claimed["TaskIds"]).not.toBeNull();
    const done = {
      DoneTaskIds: `["${String(claimed["TaskIds"])}"]`,
      DoneFences: `["${String(claimed["Fence"])}"]`,
    };
    caller.work(execution, 2, done);
    caller.call("FinishExecution", { TaskExecutionId: execution });
    caller.expectSound();
  }
  expect(caller.call("ResumeBatch", { BatchId: Batch })["Status"]).toBe("again");
  const cancelled = create(1)["Batch"] ?? null;
  expect(caller.call("CancelBatch", { BatchId: cancelled })["Status"]).toBe("cancelled");
  caller.call("PumpBatch", { BatchId: cancelled, Max: 100 });
  caller.call("ListAudit", {
    ...{ Object: null, Action: null, ChangedBy: null, Since: null, Before: null },
    Max: 10,
  });
  caller.call("ListBatches", { BatchId: null, Before: null, Max: 10 });
  caller.call("ListFailures", { Name: null, Max: 10 });
  expect(caller.call("SetStop", { IsOn: 1, ChangedBy: "me" })["Status"]).toBe("stopped");
  caller.call("RegisterDefinition", { ...plainDefinition, Name: "later" });
  expect(caller.call("ListStopped", { Max: 10 })["Definitions"]).toContain('"later"');
  expect(caller.call("SetStop", { IsOn: 0, ChangedBy: "me" })["Status"]).toBe("resumed");
  caller.call("ReadPace", { Name: "mail", Max: 10 });
  caller.call("RollUpStatistics", { Max: 10 });
  caller.call("ReadStatistics", { Name: null, Grain: 1, Max: 10 });
  caller.expectSound();
}

/** A definition that shares a limit and has a rate: one start, one more that the rate lets wait. */
function startUnderLimits(caller: Caller): void {
  const limited = { SharedLimits: '[{"name":"database","limit":2}]' };
  const rate = { RateCount: 1, RatePeriodMs: 60_000, RateBurst: 1 };
  caller.call("RegisterDefinition", { ...plainDefinition, Name: "slow", ...limited, ...rate });
  const start = (Name = "slow", Worker = "w"): unknown =>
    caller.call("StartExecution", {
      Name,
      OperationId: caller.connection.random.guid(),
      Worker,
      Build: 1,
      SettingsHash: null,
      Want: 3,
      NeedsReady: 0,
    });
  expect(start()).toMatchObject({ Status: "started", Tokens: 2 });
  expect(start()).toMatchObject({ Status: "limited", Tokens: 0 });
  caller.call("RegisterDefinition", { ...plainDefinition, Name: "wide" });
  expect(start("wide")).toMatchObject({ Status: "started", Tokens: 3 });
  expect(start("wide", "v")).toMatchObject({ Status: "limited", Demand: "noted" });
}

/** What operators do to tasks and groups. */
function operate(caller: Caller): void {
  const { TaskIds = null } = caller.enqueue([{ payload: "[7]", group: "h", runInMs: 60_000 }]);
  const outcomes = (name: string, more: Record<string, SqlValue> = {}): unknown =>
    JSON.parse(String(caller.call(name, { TaskIds, ...more })["Results"]));
  expect(outcomes("RescheduleTasks", { RunInMs: 0, RunAt: null })).toMatchObject([
    { outcome: "rescheduled" },
  ]);
  caller.call("PromoteScheduled", { Name: "mail", Max: 100 });
  expect(outcomes("CancelTasks")).toMatchObject([{ outcome: "cancelled" }]);
  expect(outcomes("RedriveTasks")).toMatchObject([{ outcome: "redriven" }]);
  const keyed = { payload: "[8]", dedupeKey: "replaced" };
  caller.enqueue([keyed]);
  const kinds = '[{"kind":"mail","priority":7}]';
  caller.call("RegisterDefinition", { Name: "ruled", ...plainDefinition, Kinds: kinds });
  caller.enqueue([{ kind: "mail" }], { Name: "ruled" });
  const replacing = caller.enqueue([{ ...keyed, payload: "[9]", onDuplicate: "replace" }]);
  expect(replacing["Outcomes"]).toBe('["replaced"]');
  caller.call("CancelTasks", { TaskIds: replacing["TaskIds"] ?? null });
  const settings = { GroupScope: "definition", Slots: 2, Paused: null, Strict: null };
  const group = { Name: "mail", GroupKey: "h" };
  expect(caller.call("SetGroup", { ...group, ...settings, ChangedBy: "me" })).toMatchObject({
    Status: "set",
    NewSlots: 2,
  });
  caller.call("ListGroups", { ...group, Max: 10 });
  const rate = { Name: "mail", Count: 5, PeriodMs: 1_000, Burst: 5, ChangedBy: "me" };
  expect(caller.call("SetRate", rate)).toMatchObject({ Status: "set", OldRate: null });
  startUnderLimits(caller);
  expect(
    caller.call("SetRate", { ...rate, Count: null, PeriodMs: null, Burst: null }),
  ).toMatchObject({
    Status: "set",
    NewRate: null,
  });
  const shared = {
    Name: "partner",
    Limit: 3,
    OperationId: caller.connection.random.guid(),
    ChangedBy: "me",
  };
  expect(caller.call("SetSharedLimit", shared)).toMatchObject({ Status: "created", NewLimit: 3 });
  expect(caller.call("ListSharedLimits", { Name: "partner", Max: 10 })).toMatchObject({
    SharedLimits: expect.stringContaining('"name":"partner","limit":3,"limitSource":"operator"'),
  });
  const mark = { Name: "mail", Watermark: "by-id", Value: "[1]", Build: 1, Tasks: "[{}]" };
  expect(caller.call("AdvanceWatermark", { ...mark, ExpectedVersion: 0 })).toMatchObject({
    Status: "advanced",
    Version: 1n,
    Ready: 1,
  });
  const back = { Name: "mail", Watermark: "by-id", Value: null, ExpectedVersion: 1 };
  const who = { ChangedBy: "me", OperationId: caller.connection.random.guid() };
  for (const call of ["first", "repeat"])
    expect({ call, ...caller.call("SetWatermark", { ...back, ...who }) }).toMatchObject({
      ...{ call, Status: "set", Version: 2n },
    });
  caller.call("ListWatermarks", { Name: "mail", Watermark: null, Max: 10 });
  caller.expectSound();
}

/** Operations that have no place in that life: each is called by its example, beside a task that runs. */
function callOthers(caller: Caller, called: ReadonlySet<string>): void {
  const others = (Object.keys(operations) as OperationName[]).filter(
    (operation) => !called.has(toPascalCase(operation)),
  );
  caller.call("RegisterDefinition", { Name: "mail", ...plainDefinition });
  caller.enqueue([{}, {}]);
  caller.work(caller.start(1), 1, { Want: 1 });
  for (const operation of others) {
    const { name, arguments: values } = exampleCall(operation, "mail");
    caller.call(name, values);
    caller.expectSound();
  }
}

/** A definition of a database whose tokens aren't rows yet. */
function moveTokens(caller: Caller): void {
  const { errors } = runAlone(caller.connection, requestOf(tokensOfBefore));
  expect(errors).toEqual([]);
  caller.expectSound();
  caller.start(1);
  caller.expectSound();
}

/** Late enough for ended rows to go. */
function forget(caller: Caller): void {
  caller.world.clock += 400 * 86_400_000;
  expect(caller.call("Sweep", { Max: 10 })["Purgeable"]).toBe(1);
  const { Tasks, Executions, Operations, More } = caller.call("Purge", { Max: 1_000 });
  for (const count of [Tasks, Executions, Operations]) expect(Number(count)).toBeGreaterThan(0);
  expect(More).toBe(0);
  expect(caller.call("Sweep", { Max: 10 })["Purgeable"]).toBe(0);
  caller.expectSound();
}

/** What a deployment, a sweeper and an operator do with a schedule. */
function keepSchedules(caller: Caller): void {
  const ExpectedRunAt = "2020-01-01T00:00:00Z";
  const schedule = { name: "s", kind: "mail", cron: "* * * * *", timeZone: "UTC", missed: "once" };
  const own = { Name: "mail", ChangedBy: "me" };
  const Schedules = JSON.stringify([{ ...schedule, nextRunAt: ExpectedRunAt }]);
  expect(caller.call("SetSchedules", { ...own, Build: 1_000, Schedules })["Status"]).toBe("set");
  const RunAts = JSON.stringify([ExpectedRunAt]);
  const fire = { ScheduleId: 1, ExpectedRunAt, RunAts, NextRunAt: null };
  expect(caller.call("FireSchedule", fire)["Status"]).toBe("fired");
  const pause = { ...own, Schedule: "s", Paused: 1, NextRunAt: null };
  expect(caller.call("SetSchedulePaused", pause)["Status"]).toBe("paused");
  caller.call("ListSchedules", { Name: "mail", Max: 10 });
  caller.expectSound();
}

/** Two apps: one says what is its own, the other is refused, an operator hands it over. */
function moveBetweenApps(caller: Caller): void {
  const own = { Definitions: '["mail"]', Address: null };
  expect(caller.call("RegisterApp", { App: "a", ...own })).toMatchObject({ Refused: "[]" });
  const refused = '[{"name":"mail","app":"a"}]';
  expect(caller.call("RegisterApp", { App: "b", ...own })).toMatchObject({ Refused: refused });
  const handOver = { Name: "mail", App: "b", ChangedBy: "me", Reason: "moved" };
  expect(caller.call("SetDefinitionOwner", handOver)["Status"]).toBe("set");
  expect(caller.call("ListApps", {})["Apps"]).toContain('"definitions":["mail"]');
  caller.expectSound();
}

describe.each(Object.keys(engines) as EngineName[])(
  "the shipped procedures on the engine %s",
  (engine) => {
    test("a life of tasks meets each of them, and leaves everything sound", () => {
      const caller = new Caller(engine);
      liveThrough(caller);
      liveThroughBatches(caller);
      operate(caller);
      keepSchedules(caller);
      moveBetweenApps(caller);
      forget(caller);
      const beside = new Caller(engine);
      callOthers(beside, caller.called);
      moveTokens(beside);
      const procedures = shippedFiles()
        .map((file) => /^procedures\/(\w+)\.sql$/.exec(file.name)?.[1] ?? "")
        .filter((name) => name !== "");
      const run = new Set(
        [caller, beside].flatMap(({ world }) => [...world.coverage.modules.keys()]),
      );
      expect(procedures.filter((name) => !run.has(`Taskgate.${name}`))).toEqual([]);
      expect([...caller.called].length).toBeGreaterThan(20);
      expect(caller.world.locks.describe()).toEqual([]);
    });

    test("errors are the procedures' own, and leave nothing open", () => {
      const caller = new Caller(engine);
      caller.call("RegisterDefinition", { Name: "mail", ...plainDefinition });
      expect(caller.error("RegisterDefinition", { Name: " mail", ...plainDefinition })).toBe(50422);
      expect(caller.error("EnqueueTasks", { Name: "other", Build: 1, Tasks: "[{}]" })).toBe(50404);
      expect(
        caller.error("EnqueueTasks", { Name: "mail", Build: 1, Tasks: '[{"payload":"no"}]' }),
      ).toBe(50422);
      expect(caller.connection.transactionCount).toBe(0);
      runAlone(caller.connection, { kind: "batch", sql: "BEGIN TRANSACTION;" });
      expect(caller.error("Sweep", { Max: 1 })).toBe(50490);
      expect(caller.connection.transactionCount).toBe(0); // XACT_ABORT in the procedure
      expect(caller.world.locks.describe()).toEqual([]);
    });
  },
);

describe("other texts that are sent to a server", () => {
  test("grant_user makes the user and adds one role, takes none away, and tells what went with a predecessor", () => {
    const world = shippedWorld();
    const connection = world.connect();
    const path = join(root, "shared/store/mssql/grant_user.sql");
    const sql = withoutValues(readFileSync(path, "utf8"));
    const text = (name: string, length: number, value: string): EngineArgument => ({
      name,
      isOutput: false,
      usesDefault: false,
      value: { kind: "scalar", type: { name: "nvarchar", length }, value },
    });
    const ask = (id: string, role: string): ReturnType<typeof runAlone> =>
      runAlone(connection, {
        kind: "statement",
        sql,
        declaration:
          "@IdentityName nvarchar(128), @ClientIdText nvarchar(36), @RoleName nvarchar(128)",
        arguments: [
          text("@IdentityName", 128, "app"),
          text("@ClientIdText", 36, id),
          text("@RoleName", 128, role),
        ],
      });
    const grant = (id: string, role: string): { has: SqlValue[]; lost: SqlValue[] } => {
      const answer = ask(id, role);
      expect(answer.errors).toEqual([]);
      const [has, lost] = answer.rowSets;
      expect(has?.rows.every(([user, client]) => user === "app" && client === id)).toBe(true);
      return {
        has: (has?.rows ?? []).map((row) => row[2] ?? null),
        lost: (lost?.rows ?? []).map(([name]) => name ?? null),
      };
    };
    const [one, other] = [
      "0E984725-C51C-4BF4-9960-E1C80E27ABA0",
      "1E984725-C51C-4BF4-9960-E1C80E27ABA0",
    ];
    const worker = "TaskgateWorker";
    const operator = "TaskgateOperator";
    for (let round = 0; round < 2; round += 1)
      expect(grant(one, worker)).toEqual({ has: [worker], lost: [] });
    runAlone(connection, { kind: "batch", sql: "CREATE ROLE Pipeline;" });
    runAlone(connection, { kind: "batch", sql: "ALTER ROLE Pipeline ADD MEMBER app;" });
    expect(grant(one, operator)).toEqual({ has: ["Pipeline", operator, worker], lost: [] });
    expect(grant(one, worker)).toEqual({ has: ["Pipeline", operator, worker], lost: [] });
    expect(grant(other, worker)).toEqual({ has: [worker], lost: ["Pipeline", operator] });
    expect(ask(other, "Nobody").errors).toMatchObject([
      { number: 50000, message: "There is no role [Nobody] in this database." },
    ]);
  });
});

describe("what never ran", () => {
  test("every statement of every shipped procedure binds", () => {
    const world = shippedWorld();
    const connection = world.connect();
    for (const object of world.catalog.objects) {
      if (object.kind === "procedure") procedureProgram(object, connection).compileAll();
    }
    const named = shippedFiles().filter((file) => file.name.startsWith("procedures/"));
    expect([...world.catalog.objects].filter((object) => object.kind === "procedure")).toHaveLength(
      named.length,
    );
  });

  test("coverage tells which statements and branches ran", () => {
    const coverage = new Coverage();
    expect(coverage.of("Taskgate.Work").statements.size).toBe(0);
    const caller = new Caller("azure");
    caller.call("ListDefinitions");
    const { statements } = caller.world.coverage.of("Taskgate.ListDefinitions");
    expect([...statements.values()].every(({ runs, line }) => runs > 0 && line > 0)).toBe(true);
  });
});
