import { describe, expect, test } from "@jest/globals";
import type { AuditAction } from "../../shared/core/audit-actions";
import type { TaskId } from "../../shared/core/ids";
import type { AuditEntry, TaskStore } from "../../shared/ports/task-store";
import { define, enqueue, enqueueOne, only, operationId, startWorker } from "../support/builders";
import { expectError } from "../support/expect-error";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";
import { filled } from "./batch-builders";
import { dayMs } from "./purge-scene";
import { schedule, setAll } from "./schedule-builders";

/** Every change has an actor, and the audit tells it. */
export function describeAudit(setup: StoreSetup): void {
  describe("An operator's call leaves one entry in the audit", () => {
    describeEntries(setup);
  });
  describe("The audit has no entry", () => {
    describeNone(setup);
  });
  describe("list_audit", () => {
    describeList(setup);
  });
  describe("purge of the audit of calls", () => {
    describePurge(setup);
  });
}

const ada = { changedBy: "ada", reason: "the partner asked" } as const;

/** What an operator does, and what its entry tells besides action, actor and reason. */
interface Change {
  readonly call: () => Promise<unknown>;
  readonly tells: Partial<AuditEntry>;
  /** The same call leaves an entry again: it changes something again. */
  readonly isAgain?: true;
}

/** Operations by their names in SQL; each makes what it changes. */
const changes: Readonly<
  Record<string, (store: TaskStore, name: string) => Promise<Change> | Change>
> = {
  set_limit: (store, name) => {
    const input = { name, limit: 2, operationId: operationId(), ...ada };
    return {
      call: () => store.setLimit(input),
      tells: { setting: "limit_override", definition: name, object: null, old: null, new: "2" },
    };
  },
  set_rate: (store, name) => ({
    call: () => store.setRate({ name, rate: { count: 5, periodMs: 1_000, burst: 1 }, ...ada }),
    tells: { setting: "rate_override", definition: name, old: null },
  }),
  set_shared_limit: (store) => {
    const input = { name: "partner of us", limit: 3, operationId: operationId(), ...ada };
    return {
      call: () => store.setSharedLimit(input),
      tells: { setting: "shared_limit_override", definition: null, object: input.name, new: "3" },
    };
  },
  pause_definition: (store, name) => ({
    call: () => store.pauseDefinition({ name, ...ada }),
    tells: { setting: "paused", definition: name, old: "false", new: "true" },
  }),
  resume_definition: async (store, name) => {
    await store.pauseDefinition({ name, changedBy: "somebody else" });
    return {
      call: () => store.resumeDefinition({ name, ...ada }),
      tells: { setting: "paused", definition: name, old: "true", new: "false" },
    };
  },
  set_group: async (store, name) => {
    const group = { groupKey: "k of k", groupScope: "definition", slots: 2 } as const;
    await store.setGroup({ name, ...group, slots: 5, changedBy: "somebody else" });
    return {
      call: () => store.setGroup({ name, ...group, ...ada }),
      tells: { setting: "own_group_slots", definition: name, object: "k of k", old: "5", new: "2" },
    };
  },
  set_schedule_paused: async (store, name) => {
    await setAll(store, name, [schedule({ name: "nightly" })]);
    const input = { name, schedule: "nightly", paused: true, nextRunAt: null };
    return {
      call: () => store.setSchedulePaused({ ...input, ...ada }),
      tells: { setting: "schedule_paused", definition: name, object: "nightly", new: "true" },
    };
  },
  set_watermark: (store, name) => {
    const input = { name, watermark: "by-id", value: '{"last":"7"}', operationId: operationId() };
    return {
      call: () => store.setWatermark({ ...input, ...ada }),
      tells: { setting: "watermark", definition: name, object: "by-id", new: '{"last":"7"}' },
    };
  },
  set_stop: (store) => ({
    call: () => store.setStop({ isOn: true, ...ada }),
    tells: { setting: "stop", definition: null, object: null, old: "false", new: "true" },
  }),
  set_definition_owner: (store, name) => ({
    call: () => store.setDefinitionOwner({ name, app: "billing", ...ada }),
    tells: { setting: "owner", definition: name, object: null, old: null, new: "billing" },
  }),
  cancel_tasks: async (store, name) => {
    const tasks = await enqueue(store, name, 2);
    return {
      call: () => store.cancelTasks({ taskIds: tasks, ...ada }),
      tells: { setting: null, definition: name, object: null, tasks, taskCount: 2 },
    };
  },
  redrive_tasks: async (store, name) => {
    const tasks = await enqueue(store, name, 2);
    await store.cancelTasks({ taskIds: tasks, changedBy: "somebody else" });
    return {
      call: () => store.redriveTasks({ taskIds: tasks, ...ada }),
      tells: { definition: name, tasks, taskCount: 2 },
    };
  },
  reschedule_tasks: async (store, name) => {
    const tasks = await enqueue(store, name, 1);
    return {
      call: () => store.rescheduleTasks({ taskIds: tasks, to: { runInMs: 60_000 }, ...ada }),
      tells: { definition: name, tasks, taskCount: 1 },
      isAgain: true,
    };
  },
  cancel_batch: async (store, name) => {
    const { batchId } = await filled(store, name, { counts: [1] });
    return {
      call: () => store.cancelBatch({ batchId, ...ada }),
      tells: { definition: null, object: `batch ${batchId}`, tasks: null, taskCount: null },
    };
  },
  resume_batch: async (store, name) => {
    const { batchId } = await filled(store, name, { counts: [1, 1] });
    await store.startBatch({ batchId, seal: true });
    const worker = await startWorker(store, name);
    await worker.fail([await worker.claimOne()], { as: "dead" });
    return {
      call: () => store.resumeBatch({ batchId, ...ada }),
      tells: { definition: null, object: `batch ${batchId}` },
    };
  },
  enqueue_tasks: (store, name) => {
    const tasks = [{ payload: null }, { payload: "{}" }];
    const input = { name, build: 1, tasks, operationId: operationId(), ...ada };
    return {
      call: () => store.enqueueTasks(input),
      tells: { definition: name, taskCount: 2 },
    };
  },
};

function describeEntries(setup: StoreSetup): void {
  const open = useStore(setup);

  test.each(Object.entries(changes))(
    "%s names actor, reason, object and time, and a repeat leaves none",
    async (action, make) => {
      const { store } = open();
      const name = await define(store);
      const change = await make(store, name);
      const { now } = await store.listSchedules({ max: 1 });
      await change.call();
      const { entries } = await store.listAudit({ changedBy: "ada", max: 100 });
      expect(entries).toEqual([
        expect.objectContaining({
          action,
          source: "operator",
          actor: "ada",
          reason: ada.reason,
          ...change.tells,
        }),
      ]);
      expect(Math.abs(Date.parse(entries[0]?.at ?? "") - now.getTime())).toBeLessThan(60_000);
      if (change.isAgain === true) return;
      await change.call();
      expect((await store.listAudit({ changedBy: "ada", max: 100 })).entries).toEqual(entries);
    },
  );

  test("cancel_tasks of a running task leaves one, however often it is asked", async () => {
    const { store } = open();
    const name = await define(store);
    const task = await enqueueOne(store, name);
    await (await startWorker(store, name)).claimOne();
    for (let calls = 0; calls < 3; calls += 1) {
      const { results } = await store.cancelTasks({ taskIds: [task], changedBy: "ada" });
      expect(results).toEqual([{ taskId: task, outcome: "requested", state: null }]);
    }
    expect(await tasksOf(store, "cancel_tasks")).toEqual([[task]]);
  });

  test("cancel_tasks of running tasks names those that weren't asked to end before", async () => {
    const { store } = open();
    const name = await define(store);
    const taskIds = await enqueue(store, name, 2);
    await (await startWorker(store, name, { want: 2 })).claim(2);
    await store.cancelTasks({ taskIds: taskIds.slice(1), changedBy: "somebody else" });
    await store.cancelTasks({ taskIds, changedBy: "ada" });
    const { entries } = await store.listAudit({ changedBy: "ada", max: 10 });
    expect(entries).toMatchObject([{ tasks: taskIds.slice(0, 1), taskCount: 1 }]);
  });

  test("a call names the tasks that it changed, and no definition where they have several", async () => {
    const { store } = open();
    const [one, two] = [await define(store), await define(store)];
    const tasks = [await enqueueOne(store, two), await enqueueOne(store, one)];
    await store.cancelTasks({ taskIds: [...tasks].reverse(), changedBy: "ada" });
    await store.redriveTasks({ name: one, outcome: "cancelled", max: 5, changedBy: "ada" });
    const { entries } = await store.listAudit({ changedBy: "ada", max: 10 });
    const told = entries.map(({ action, definition, tasks: named }) => [action, definition, named]);
    // In the order of their names: both may be of one millisecond.
    expect(told.sort()).toEqual([
      ["cancel_tasks", null, tasks],
      ["redrive_tasks", one, tasks.slice(1)],
    ]);
  });

  test("enqueue_tasks names new tasks and those with a new payload", async () => {
    const { store } = open();
    const name = await define(store);
    const payload = '{"a":1}';
    const [kept, replaced] = await enqueue(store, name, [{ dedupeKey: "k" }, { dedupeKey: "r" }]);
    const tasks = [
      { payload, dedupeKey: "k" },
      { payload, dedupeKey: "r", onDuplicate: "replace" as const },
      { payload, dedupeKey: "r", onDuplicate: "replace" as const },
      { payload },
    ];
    const call = { name, build: 1, operationId: null, changedBy: "ada" };
    const { taskIds } = await store.enqueueTasks({ ...call, tasks });
    expect(taskIds.slice(0, 2)).toEqual([kept, replaced]);
    expect(await tasksOf(store, "enqueue_tasks")).toEqual([[replaced, taskIds[3]]]);
  });
}

/** The tasks of all entries of an action, newest first. */
async function tasksOf(store: TaskStore, action: AuditAction) {
  const { entries } = await store.listAudit({ action, max: 100 });
  return entries.map(({ tasks }) => tasks);
}

function describeNone(setup: StoreSetup): void {
  const open = useStore(setup);

  test("the audit has no entry of tasks that the app itself adds", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueue(store, name, 3);
    expect(await tasksOf(store, "enqueue_tasks")).toEqual([]);
  });

  test("the audit has no entry of calls that change nothing", async () => {
    const { store } = open();
    const name = await define(store);
    const task = await enqueueOne(store, name, { dedupeKey: "k" });
    const taskIds = [task];
    await store.redriveTasks({ taskIds, ...ada });
    await (await startWorker(store, name)).claimOne();
    await store.rescheduleTasks({ taskIds, to: { runInMs: 0 }, ...ada });
    const again = { payload: null, dedupeKey: "k" };
    const call = { name, build: 1, operationId: null, changedBy: "ada" };
    await store.enqueueTasks({ ...call, tasks: [again] });
    const { batchId } = await filled(store, name, { counts: [1] });
    await store.resumeBatch({ batchId, ...ada });
    expect((await store.listAudit({ changedBy: "ada", max: 10 })).entries).toEqual([]);
  });

  test("the audit has no entry of calls with an actor or a reason that is too long, which are refused", async () => {
    const { store } = open();
    const name = await define(store);
    const taskIds = await enqueue(store, name, 1);
    const changedBy = "x".repeat(201);
    const refused = {
      code: "TASKGATE_ARG_INVALID",
      field: "changed_by",
      value: changedBy,
    } as const;
    await expectError(store.cancelTasks({ taskIds, changedBy }), refused);
    await expectError(store.redriveTasks({ taskIds, changedBy }), refused);
    await expectError(store.rescheduleTasks({ taskIds, to: { runInMs: 0 }, changedBy }), refused);
    const tasks = [{ payload: null }];
    await expectError(
      store.enqueueTasks({ name, build: 1, operationId: null, tasks, changedBy }),
      refused,
    );
    const reason = "x".repeat(401);
    const unreasonable = { ...refused, field: "reason", value: reason };
    await expectError(store.redriveTasks({ taskIds, reason }), unreasonable);
    expect((await store.listAudit({ object: name, max: 10 })).entries).toMatchObject([
      { action: "register_definition" },
    ]);
  });
}

function describeList(setup: StoreSetup): void {
  const open = useStore(setup);

  testWith(setup, "exact clock")("list_audit answers newest first, and cuts at `max`", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const taskIds = await enqueue(store, name, 1);
    const at: string[] = [];
    const acts = [
      () => store.pauseDefinition({ name, ...ada }),
      () => store.resumeDefinition({ name, ...ada }),
      () => store.cancelTasks({ taskIds, ...ada }),
      () => store.pauseDefinition({ name, ...ada }),
      () => store.redriveTasks({ taskIds, ...ada }),
    ];
    for (const act of acts) {
      await opened.advance(1_000);
      await act();
      at.push((await store.listSchedules({ max: 1 })).now.toISOString());
    }
    for (let max = 6; max > 0; max -= 1) {
      const { entries } = await store.listAudit({ changedBy: "ada", max });
      expect(entries.map(({ action, at: when }) => [action, when])).toEqual(
        [
          ["redrive_tasks", at[4]],
          ["pause_definition", at[3]],
          ["cancel_tasks", at[2]],
          ["resume_definition", at[1]],
          ["pause_definition", at[0]],
        ].slice(0, max),
      );
    }
    const [since, before] = [new Date(at[1] ?? ""), new Date(at[3] ?? "")];
    const between = await store.listAudit({ since, before, max: 10 });
    expect(between.entries.map(({ action }) => action)).toEqual([
      "cancel_tasks",
      "resume_definition",
    ]);
  });

  testWith(setup, "exact clock")(
    "list_audit tells calls of one instant before settings, the later first, and cuts the older ones",
    async () => {
      const { store } = open();
      const name = await define(store);
      const [first, second] = await enqueue(store, name, 2);
      const cancel = (taskId = first) =>
        store.cancelTasks({ taskIds: [String(taskId)] as never, ...ada });
      await store.pauseDefinition({ name, ...ada });
      await cancel();
      await store.resumeDefinition({ name, ...ada });
      await cancel(second);
      for (let max = 5; max > 0; max -= 1) {
        const { entries } = await store.listAudit({ changedBy: "ada", max });
        const told = entries.map(({ action, tasks }) => [action, tasks]);
        expect(told).toEqual(
          [
            ["cancel_tasks", [second]],
            ["cancel_tasks", [first]],
            ["resume_definition", null],
            ["pause_definition", null],
          ].slice(0, max),
        );
      }
    },
  );

  testWith(setup, "exact clock")(
    "list_audit counts an entry at `since` in and one at `before` out",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      const taskIds = await enqueue(store, name, 1);
      await opened.advance(1_000);
      await store.pauseDefinition({ name, ...ada });
      await store.cancelTasks({ taskIds, ...ada });
      const at = (await opened.now()).getTime();
      const told = async (bounds: { since?: Date; before?: Date }) =>
        (await store.listAudit({ ...bounds, changedBy: "ada", max: 10 })).entries.length;
      expect(await told({ since: new Date(at) })).toBe(2);
      expect(await told({ since: new Date(at + 1) })).toBe(0);
      expect(await told({ before: new Date(at) })).toBe(0);
      expect(await told({ before: new Date(at + 1) })).toBe(2);
    },
  );

  test("list_audit tells a value with ` of ` in it whole where it isn't of a named object", async () => {
    const { store } = open();
    const name = await define(store);
    for (const app of ["part of one", "part of two"])
      await store.setDefinitionOwner({ name, app, ...ada });
    const group = { groupKey: "k", groupScope: "global", slots: 2 } as const;
    await store.setGroup({ name, ...group, ...ada });
    const told = async (action: AuditAction) =>
      (await store.listAudit({ action, changedBy: "ada", max: 10 })).entries;
    expect(await told("set_definition_owner")).toMatchObject([
      { object: null, old: "part of one", new: "part of two" },
      { object: null, old: null, new: "part of one" },
    ]);
    expect(await told("set_group")).toMatchObject(
      ["strict", "paused", "slots"].map((what) => ({
        setting: `global_group_${what}`,
        object: "k",
      })),
    );
  });

  test("a text that goes on, or ends in a blank, isn't the one that it begins with", async () => {
    const { store } = open();
    const name = await define(store);
    const longest = "n".repeat(200);
    await store.pauseDefinition({ name, changedBy: longest });
    const told = async (filter: { object?: string; action?: string; changedBy?: string }) =>
      (await store.listAudit({ ...(filter as object), max: 10 })).entries.length;
    expect(await told({ changedBy: longest })).toBe(1);
    expect(await told({ changedBy: `${longest}n` })).toBe(0);
    await store.resumeDefinition({ name, changedBy: "ada" });
    for (const found of [{ changedBy: "ada" }, { object: name }, { action: "pause_definition" }]) {
      expect(await told(found)).toBeGreaterThan(0);
      const longer = Object.entries(found).map(([key, value]) => [key, `${value} `]);
      expect(await told(Object.fromEntries(longer) as typeof found)).toBe(0);
    }
  });

  test("list_audit finds an object by definition, group, batch or task, and an action", async () => {
    const { store } = open();
    const [name, other] = [await define(store), await define(store)];
    const [first, second] = await enqueue(store, name, 11);
    const group = { groupKey: "eu", groupScope: "definition", slots: 3 } as const;
    await store.setGroup({ name: other, ...group, slots: 5, changedBy: "somebody else" });
    await store.setGroup({ name: other, ...group, ...ada });
    await store.cancelTasks({ taskIds: [String(first), String(second)] as never, ...ada });
    const { batchId } = await filled(store, other, { counts: [1] });
    await store.cancelBatch({ batchId, ...ada });
    const actions = async (filter: { object?: string; action?: AuditAction }) =>
      (await store.listAudit({ ...filter, changedBy: "ada", max: 10 })).entries.map(
        ({ action }) => action,
      );
    expect(await actions({ object: name })).toEqual(["cancel_tasks"]);
    expect(await actions({ object: other })).toEqual(["set_group"]);
    expect(await actions({ object: "eu" })).toEqual(["set_group"]);
    expect(await actions({ object: "EU" })).toEqual([]);
    expect(await actions({ object: String(second) })).toEqual(["cancel_tasks"]);
    expect(await actions({ object: `${String(second)}0` })).toEqual([]);
    expect(await actions({ object: `batch ${batchId}` })).toEqual(["cancel_batch"]);
    expect(await actions({ action: "set_group" })).toEqual(["set_group"]);
  });

  test("list_audit tells what the code registered", async () => {
    const { store } = open();
    const name = await define(store, { limit: 7 });
    const { entries } = await store.listAudit({ object: name, max: 10 });
    expect(entries).toEqual([
      expect.objectContaining({
        action: "register_definition",
        setting: "limit",
        new: "7",
        source: "code",
        actor: "the code",
      }),
    ]);
  });

  test("list_audit refuses another `max` than 1..100", async () => {
    const { store } = open();
    for (const max of [0, 101]) {
      await expectError(store.listAudit({ max }), {
        code: "TASKGATE_ARG_INVALID",
        field: "max",
        value: max,
      });
    }
  });
}

function describePurge(setup: StoreSetup): void {
  const open = useStore(setup);

  test("an enqueue's entry goes after 30 days, the others' after 400", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const call = { name, build: 1, operationId: null, changedBy: "ada" };
    for (let calls = 0; calls < 3; calls += 1)
      await store.enqueueTasks({ ...call, tasks: [{ payload: null }] });
    const [[task] = []] = (await tasksOf(store, "enqueue_tasks")).map((tasks) => tasks ?? []);
    await store.cancelTasks({ taskIds: [String(task) as never], ...ada });
    await opened.advance(29 * dayMs);
    expect(await store.purge({ max: 10 })).toMatchObject({ auditEntries: 0 });
    await opened.advance(2 * dayMs);
    expect(await store.purge({ max: 2 })).toMatchObject({ auditEntries: 2, more: true });
    expect(await store.purge({ max: 2 })).toMatchObject({ auditEntries: 1 });
    const left = await store.listAudit({ changedBy: "ada", max: 10 });
    expect(left.entries).toMatchObject([{ action: "cancel_tasks" }]);
    await opened.advance(368 * dayMs);
    expect(await store.purge({ max: 1_000 })).toMatchObject({ auditEntries: 0 });
    await opened.advance(2 * dayMs);
    expect(await store.purge({ max: 1_000 })).toMatchObject({ auditEntries: 1 });
  });

  testWith(setup, "exact clock")("an entry goes a millisecond after its time", async () => {
    const opened = open();
    const { store } = opened;
    const taskId = await enqueueBy(store, await define(store), "ada");
    await store.cancelTasks({ taskIds: [taskId], ...ada });
    await opened.advance(30 * dayMs);
    expect(await store.purge({ max: 10 })).toMatchObject({ auditEntries: 0 });
    await opened.advance(1);
    expect(await store.purge({ max: 10 })).toMatchObject({ auditEntries: 1 });
    await opened.advance(370 * dayMs - 1);
    expect(await store.purge({ max: 10 })).toMatchObject({ auditEntries: 0 });
    await opened.advance(1);
    expect(await store.purge({ max: 10 })).toMatchObject({ auditEntries: 1 });
  });

  test("the oldest go first, and more while those of one kind fill a share", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    for (const changedBy of ["first", "second", "third"]) {
      const taskId = await enqueueBy(store, name, changedBy);
      await store.cancelTasks({ taskIds: [taskId], changedBy });
      await opened.advance(1_000);
    }
    await opened.advance(31 * dayMs);
    expect(await store.purge({ max: 2 })).toMatchObject({ auditEntries: 2, more: true });
    expect(await actorsOf(store, "enqueue_tasks")).toEqual(["third"]);
    await store.purge({ max: 10 });
    await opened.advance(400 * dayMs);
    expect(await store.purge({ max: 2 })).toMatchObject({ auditEntries: 2, more: true });
    expect(await actorsOf(store, "cancel_tasks")).toEqual(["third"]);
    expect(await store.purge({ max: 2 })).toMatchObject({ auditEntries: 1, more: false });
  });
}

/** The id of a task that somebody enqueued: an entry of the audit. */
async function enqueueBy(store: TaskStore, name: string, changedBy: string): Promise<TaskId> {
  const tasks = [{ payload: null }];
  const answer = await store.enqueueTasks({ name, build: 1, operationId: null, tasks, changedBy });
  return only([...answer.taskIds]);
}

/** Who called an operation, as far as the audit still knows. */
async function actorsOf(store: TaskStore, action: AuditAction): Promise<string[]> {
  const { entries } = await store.listAudit({ action, max: 10 });
  return entries.map(({ actor }) => actor);
}
