import { describe, expect, test } from "@jest/globals";
import type { KindRules } from "../../shared/ports/task-store";
import {
  at,
  factsOf,
  only,
  operationId,
  registration,
  stateOf,
  statusOf,
} from "../support/builders";
import { expectError } from "../support/expect-error";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";
import { call, defineKind, groupKeys, rules } from "./kind-rules";
import { defineDue, fire } from "./schedule-builders";

/** The rules of a kind apply to its tasks in every way in. */
export function describeKinds(setup: StoreSetup): void {
  describe("register_definition with kinds", () => {
    describeRegistration(setup);
  });
  describe("enqueue_tasks of a kind with a group by its payload", () => {
    describePaths(setup);
  });
  describe("enqueue_tasks of a kind whose group the code computes", () => {
    describeComputed(setup);
  });
  describe("enqueue_tasks of a kind with a priority, a delay or a dedupe key", () => {
    describeOthers(setup);
  });
  describe("fire_schedule of a kind with rules", () => {
    describeSchedules(setup);
  });
}

const ada = '{"name":"Ada"}';

function describeRegistration(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a registration replaces the rules of the kinds that it names and leaves the others", async () => {
    const { store } = open();
    const name = await defineKind(store, { groupBy: "name" });
    const register = (settingsHash: string, kinds?: readonly KindRules[]) =>
      store.registerDefinition(registration({ name, settingsHash, ...(kinds && { kinds }) }));
    const keys = async (payload: string): Promise<string[]> => {
      await store.enqueueTasks(call(name, [{ payload }]));
      return groupKeys(store, name);
    };
    await register("hash-2", [rules({ kind: "another", groupBy: "id" })]);
    expect(await keys('{"name":"a"}')).toEqual(["a"]);
    await register("hash-3");
    expect(await keys('{"name":"b"}')).toEqual(["a", "b"]);
    await register("hash-4", [rules({ kind: name, groupBy: "id" })]);
    expect(await keys('{"name":"c","id":7}')).toEqual(["7", "a", "b"]);
    await register("hash-5", [rules({ kind: name })]);
    expect(await keys('{"name":"d","id":8}')).toEqual(["7", "a", "b"]);
  });

  test("a registration by an older build leaves the rules alone", async () => {
    const { store } = open();
    const kinds = (groupBy: string | null, kind: string) => [rules({ kind, groupBy })];
    const { name } = registration();
    await store.registerDefinition(registration({ name, build: 5, kinds: kinds("name", name) }));
    const older = registration({ name, build: 4, settingsHash: "old", kinds: kinds(null, name) });
    expect(await store.registerDefinition(older)).toMatchObject({ status: "outdated" });
    await store.enqueueTasks(call(name, [{ payload: ada }]));
    expect(await groupKeys(store, name)).toEqual(["Ada"]);
  });

  testWith(setup, "audit")(
    "a change of the rules is audited with both texts, the kinds by name",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await defineKind(store, { groupBy: "name", priority: 5 });
      const kinds = [
        rules({ kind: "~", priority: 9 }),
        rules({ kind: name, isGroupComputed: true, runInMs: 10, dedupeBy: "id", dedupeMs: 60_000 }),
      ];
      await store.registerDefinition(registration({ name, settingsHash: "hash-2", kinds }));
      expect(
        (await opened.readAudit(name)).filter(({ setting }) => setting === "kinds"),
      ).toMatchObject([
        {
          oldValue: `${name} group=name priority=5`,
          newValue: `${name} group=code run_in_ms=10 dedupe=id/60000, ~ priority=9`,
        },
      ]);
    },
  );

  const bad: readonly [string, readonly Partial<KindRules>[], string][] = [
    ["a path with a dot at its end", [{ groupBy: "a." }], "groupBy"],
    ["a path with quotes", [{ groupBy: 'a."b"' }], "groupBy"],
    ["a path with a $", [{ dedupeBy: "$.a" }], "dedupeBy"],
    ["a path that begins with a digit", [{ groupBy: "a.1b" }], "groupBy"],
    ["an empty path", [{ groupBy: "" }], "groupBy"],
    ["a path of 201 characters", [{ groupBy: "x".repeat(201) }], "groupBy"],
    ["a kind without a name", [{ kind: "" }], "kind"],
    ["two rules of one kind", [{ priority: 1 }, { priority: 2 }], "kinds"],
    ["a path and a function", [{ groupBy: "a", isGroupComputed: true }], "kinds"],
    ["a priority out of range", [{ priority: 32_768 }], "priority"],
    ["a delay below 0", [{ runInMs: -1 }], "runInMs"],
    ["a window without a key", [{ dedupeMs: 5 }], "kinds"],
  ];
  for (const [title, list, field] of bad) {
    test(`a registration with ${title} is refused`, async () => {
      const { store } = open();
      const kinds = list.map((changes) => rules(changes));
      const answer = store.registerDefinition(registration({ kinds }));
      await expectError(answer, { code: "TASKGATE_ARG_INVALID", field });
    });
  }

  test("a registration with 1,001 kinds is refused", async () => {
    const { store } = open();
    const kinds = Array.from({ length: 1_001 }, (_, index) => rules({ kind: `k${String(index)}` }));
    const answer = store.registerDefinition(registration({ kinds }));
    await expectError(answer, { code: "TASKGATE_ARG_INVALID", field: "kinds", value: "1001" });
  });
}

function describePaths(setup: StoreSetup): void {
  const open = useStore(setup);

  test("two tasks of one key run one after the other, without a group in the call", async () => {
    const { store } = open();
    const name = await defineKind(store, { groupBy: "customer.id" });
    const payload = '{"customer":{"id":17}}';
    const text = '{"customer":{"id":"17"}}';
    const { taskIds } = await store.enqueueTasks(call(name, [{ payload }, { payload: text }]));
    expect(await stateOf(store, at(taskIds, 0))).toBe("ready");
    expect(await factsOf(store, at(taskIds, 1))).toMatchObject({
      state: "waiting",
      group: { key: "17", isGlobal: false },
    });
  });

  test("the rule holds for the kind that has it, in its definition", async () => {
    const { store } = open();
    const kind = "of several";
    const name = await defineKind(store, { kind, groupBy: "name" });
    const other = await defineKind(store, { kind: "another", groupBy: "name" });
    await store.enqueueTasks(call(name, [{ payload: ada }, { payload: '{"name":"B"}', kind }]));
    await store.enqueueTasks(call(other, [{ payload: ada, kind }]));
    expect(await groupKeys(store, name)).toEqual(["B"]);
    expect(await groupKeys(store, other)).toEqual([]);
  });

  test("a caller's groupScope holds for the computed key", async () => {
    const { store } = open();
    const name = await defineKind(store, { groupBy: "name" });
    const [first, second] = [{ payload: ada, groupScope: "global" as const }, { payload: ada }];
    const { taskIds } = await store.enqueueTasks(call(name, [first, first, second]));
    expect(await factsOf(store, at(taskIds, 1))).toMatchObject({ group: { isGlobal: true } });
    expect(await stateOf(store, at(taskIds, 2))).toBe("ready");
  });

  test("a key that equals the payload's, or null, is as good as none", async () => {
    const { store } = open();
    const name = await defineKind(store, { groupBy: "name" });
    const tasks = [{ group: "Ada" }, { group: null }].map((said) => ({ payload: ada, ...said }));
    await store.enqueueTasks(call(name, tasks));
    expect(await groupKeys(store, name)).toEqual(["Ada"]);
    expect(await statusOf(store, name)).toMatchObject({ ready: 1, waiting: 1 });
  });

  for (const [title, payload] of [
    ["another key than the payload's", ada],
    ["a key where the payload has none", "{}"],
  ] as const) {
    test(`${title} is refused, of callers without code and of the registered build`, async () => {
      const { store } = open();
      const name = await defineKind(store, { groupBy: "name" });
      for (const build of [0, 1]) {
        const tasks = [{ payload: ada }, { payload, group: "Bob" }];
        await expectError(store.enqueueTasks(call(name, tasks, { build })), {
          code: "TASKGATE_ARG_RULE",
          value: `tasks[1].group: expected nothing, or what the payload of kind ${name} has at name (Bob)`,
        });
      }
      expect(await statusOf(store, name)).toMatchObject({ ready: 0, waiting: 0 });
    });
  }

  test("a caller of another build knows its own rule: its key is kept", async () => {
    const { store } = open();
    const name = await defineKind(store, { groupBy: "name" });
    await store.enqueueTasks(call(name, [{ payload: ada, group: "older" }], { build: 2 }));
    expect(await groupKeys(store, name)).toEqual(["older"]);
  });

  test("tasks of a wave and those of a transaction have the group, too", async () => {
    const { store } = open();
    const name = await defineKind(store, { groupBy: "name", runInMs: 60_000 });
    const { batchId, waveIds } = await store.createBatch({
      operationId: operationId(),
      name: "b",
      failurePolicy: "halt",
      waves: 1,
    });
    await store.enqueueTasks(call(name, [{ payload: ada }], { waveId: at(waveIds, 0) }));
    await store.startBatch({ batchId, seal: true });
    await store.promoteScheduled({ name, max: 10 });
    expect(await groupKeys(store, name)).toEqual(["Ada"]);
    expect(await statusOf(store, name)).toMatchObject({ ready: 1, scheduled: 0 });
    const tasks = [{ payload: '{"name":"B"}', runInMs: 0 }];
    await store.transaction((within) => store.enqueueTasks(call(name, tasks), within));
    expect(await statusOf(store, name)).toMatchObject({ ready: 1, scheduled: 1 });
    await store.promoteScheduled({ name, max: 10 });
    expect(await groupKeys(store, name)).toEqual(["Ada", "B"]);
  });

  test("an enqueue of blocks behind a watermark gives them the group, too", async () => {
    const { store } = open();
    const name = await defineKind(store, { groupBy: "name" });
    const input = call(name, [{ payload: ada }]);
    const position = { watermark: "w", expectedVersion: "0", value: "{}" };
    await store.advanceWatermark({ ...input, ...position });
    await store.promoteScheduled({ name, max: 10 });
    expect(await groupKeys(store, name)).toEqual(["Ada"]);
  });
}

function describeComputed(setup: StoreSetup): void {
  const open = useStore(setup);

  for (const build of [0, 1, 2]) {
    test(`a caller of build ${String(build)} who says nothing of the group is refused, and nothing is added`, async () => {
      const { store } = open();
      const name = await defineKind(store, { isGroupComputed: true });
      const tasks = [{ payload: ada, group: "Ada" }, { payload: ada }];
      await expectError(store.enqueueTasks(call(name, tasks, { build })), {
        code: "TASKGATE_ARG_RULE",
        value: `tasks[1].group: expected a key, or null for none: the code of kind ${name} computes it (nothing)`,
      });
      expect(await statusOf(store, name)).toMatchObject({ ready: 0, waiting: 0 });
    });
  }

  test("a repeat with its operation id is answered as the first time, although the kind has other rules since", async () => {
    const { store } = open();
    const name = await defineKind(store, {});
    const enqueue = call(name, [{ payload: ada }, { payload: ada }], {
      operationId: operationId(),
    });
    const first = await store.enqueueTasks(enqueue);
    const later = registration({
      ...{ name, build: 2 },
      kinds: [rules({ kind: name, isGroupComputed: true, dedupeBy: "none" })],
    });
    expect((await store.registerDefinition(later)).status).toBe("updated");
    expect(await store.enqueueTasks(enqueue)).toEqual(first);
    await expectError(store.enqueueTasks({ ...enqueue, operationId: operationId() }), {
      code: "TASKGATE_ARG_RULE",
    });
    expect((await statusOf(store, name)).ready).toBe(2);
  });

  test("no other member of a task stands for its group", async () => {
    const opened = open();
    const { store } = opened;
    const name = await defineKind(store, { isGroupComputed: true });
    // As long a name as `group`.
    const tasks = [{ payload: ada, runAt: await opened.now() }];
    await expectError(store.enqueueTasks(call(name, tasks)), {
      code: "TASKGATE_ARG_RULE",
      value: `tasks[0].group: expected a key, or null for none: the code of kind ${name} computes it (nothing)`,
    });
  });

  test("a caller who says a key, or null for none, is believed", async () => {
    const { store } = open();
    const name = await defineKind(store, { isGroupComputed: true });
    await store.enqueueTasks(call(name, [{ group: "x" }, { group: null }, { group: "x" }]));
    expect(await groupKeys(store, name)).toEqual(["x"]);
    expect(await statusOf(store, name)).toMatchObject({ ready: 2, waiting: 1 });
  });
}

function describeOthers(setup: StoreSetup): void {
  const open = useStore(setup);

  test("the kind's priority holds where the caller says none", async () => {
    const { store } = open();
    const name = await defineKind(store, { priority: -5 });
    const tasks = [{}, { priority: 7 }, { kind: "another" }];
    const { taskIds } = await store.enqueueTasks(call(name, tasks));
    const facts = await Promise.all(taskIds.map((id) => factsOf(store, id)));
    expect(facts.map(({ priority }) => priority)).toEqual([-5, 7, 100]);
  });

  test("the kind's delay holds where the caller says no instant", async () => {
    const opened = open();
    const { store } = opened;
    const name = await defineKind(store, { runInMs: 90_000_000 });
    const runAt = new Date((await opened.now()).getTime() + 1_000);
    const tasks = [{}, { runInMs: 0 }, { runAt }, { kind: "another" }];
    const answer = await store.enqueueTasks(call(name, tasks));
    expect(answer).toMatchObject({ ready: true });
    const states = await Promise.all(answer.taskIds.map((id) => stateOf(store, id)));
    expect(states).toEqual(["scheduled", "ready", "scheduled", "ready"]);
    expect(answer.nextDueMs).toBeLessThan(10_000);
    const later = await store.enqueueTasks(call(name, [{}]));
    expect(Math.abs((later.nextDueMs ?? 0) - 90_000_000)).toBeLessThan(10_000);
  });

  test("tasks of a kind with a delay of 0 are ready at once", async () => {
    const { store } = open();
    const name = await defineKind(store, { runInMs: 0 });
    const { taskIds } = await store.enqueueTasks(call(name, [{}]));
    expect(await stateOf(store, only(taskIds))).toBe("ready");
  });

  test("the kind's dedupe key is the payload's, for as long as the kind says", async () => {
    const opened = open();
    const { store } = opened;
    const name = await defineKind(store, { dedupeBy: "name", dedupeMs: 60_000 });
    const first = await store.enqueueTasks(call(name, [{ payload: ada }]));
    const again = await store.enqueueTasks(
      call(name, [{ payload: ada, dedupeKey: "Ada" }, { payload: '{"name":"B"}' }, {}]),
    );
    expect(again.outcomes).toEqual(["duplicate", "enqueued", "enqueued"]);
    expect(at(again.taskIds, 0)).toBe(at(first.taskIds, 0));
    await store.cancelTasks({ taskIds: first.taskIds });
    const third = await store.enqueueTasks(call(name, [{ payload: ada }]));
    expect(third.outcomes).toEqual(["duplicate"]);
    await opened.advance(60_001);
    const fourth = await store.enqueueTasks(call(name, [{ payload: ada }]));
    expect(fourth.outcomes).toEqual(["enqueued"]);
  });

  test("a dedupe key that the caller says is held until its task ends, whatever window the kind has", async () => {
    const { store } = open();
    const name = await defineKind(store, { dedupeBy: "name", dedupeMs: 60_000 });
    const said = call(name, [{ payload: ada, dedupeKey: "Ada" }]);
    const first = await store.enqueueTasks(said);
    await store.cancelTasks({ taskIds: first.taskIds });
    expect((await store.enqueueTasks(said)).outcomes).toEqual(["enqueued"]);
  });

  test("a caller of another build keeps its own dedupe key", async () => {
    const { store } = open();
    const name = await defineKind(store, { dedupeBy: "name" });
    const older = call(name, [{ payload: ada, dedupeKey: "older" }], { build: 2 });
    expect((await store.enqueueTasks(older)).outcomes).toEqual(["enqueued"]);
    expect((await store.enqueueTasks(older)).outcomes).toEqual(["duplicate"]);
    expect((await store.enqueueTasks(call(name, [{ payload: ada }]))).outcomes).toEqual([
      "enqueued",
    ]);
  });

  test("a caller's own keys are kept where the kind has other rules only", async () => {
    const { store } = open();
    const name = await defineKind(store, { priority: 5 });
    const { outcomes } = await store.enqueueTasks(
      call(name, [{ group: "g" }, { dedupeKey: "d" }, { dedupeKey: "d" }]),
    );
    expect(outcomes).toEqual(["enqueued", "enqueued", "duplicate"]);
    expect(await groupKeys(store, name)).toEqual(["g"]);
  });

  test("the first of several tasks that break the rule is told", async () => {
    const { store } = open();
    const name = await defineKind(store, { groupBy: "name" });
    const tasks = ["Ada", "Bob", "Cleo", "Dan"].map((group) => ({ payload: ada, group }));
    await expectError(store.enqueueTasks(call(name, tasks)), {
      code: "TASKGATE_ARG_RULE",
      value: `tasks[1].group: expected nothing, or what the payload of kind ${name} has at name (Bob)`,
    });
  });

  test("a payload that would leave the group of the first task doesn't replace its payload", async () => {
    const { store } = open();
    const name = await defineKind(store, { groupBy: "name", dedupeBy: "id" });
    const outcomeOf = async (payload: string) => {
      const task = { payload, onDuplicate: "replace" as const };
      return (await store.enqueueTasks(call(name, [task]))).outcomes[0];
    };
    expect(await outcomeOf('{"id":1,"name":"Ada"}')).toBe("enqueued");
    expect(await outcomeOf('{"id":1,"name":"ada"}')).toBe("duplicate");
    expect(await outcomeOf('{"id":1}')).toBe("duplicate");
    expect(await outcomeOf('{"id":1,"name":"Ada","more":2}')).toBe("replaced");
    expect(await groupKeys(store, name)).toEqual(["Ada"]);
  });

  test("payloads of several first tasks are replaced, each within a group of its own", async () => {
    const { store } = open();
    const name = await defineKind(store, { groupBy: "name", dedupeBy: "id" });
    const outcomesOf = async (payloads: readonly string[]) => {
      const tasks = payloads.map((payload) => ({ payload, onDuplicate: "replace" as const }));
      return (await store.enqueueTasks(call(name, tasks))).outcomes;
    };
    await outcomesOf(['{"id":1,"name":"Ada"}', '{"id":2,"name":"Bob"}', '{"id":3,"name":"Cleo"}']);
    expect(
      await outcomesOf([
        '{"id":1,"name":"Ada","n":2}',
        '{"id":2,"name":"Ada"}',
        '{"id":3,"name":"Cleo","n":2}',
      ]),
    ).toEqual(["replaced", "duplicate", "replaced"]);
  });

  test("a dedupe key that differs from the payload's is refused", async () => {
    const { store } = open();
    const name = await defineKind(store, { dedupeBy: "name" });
    await expectError(store.enqueueTasks(call(name, [{ payload: ada, dedupeKey: "x" }])), {
      code: "TASKGATE_ARG_RULE",
      value: `tasks[0].dedupeKey: expected nothing, or what the payload of kind ${name} has at name (x)`,
    });
    await expectError(store.enqueueTasks(call(name, [{ payload: '{"name":[]}' }])), {
      code: "TASKGATE_ARG_INVALID",
      value: "tasks[0].payload.name: expected a key",
    });
  });
}

function describeSchedules(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a kind's delay doesn't count in a wave", async () => {
    const { store } = open();
    const name = await defineKind(store, { runInMs: 5_000 });
    const batch = {
      operationId: operationId(),
      name: "b",
      failurePolicy: "halt",
      waves: 1,
    } as const;
    const { batchId, waveIds } = await store.createBatch(batch);
    const answer = await store.enqueueTasks({ ...call(name, [{}]), waveId: at(waveIds, 0) });
    expect(answer.nextDueMs).toBeNull();
    await store.startBatch({ batchId, seal: true });
    expect(await statusOf(store, name)).toMatchObject({ ready: 1, scheduled: 0 });
  });

  test("a schedule's tasks have the group by their payload, the priority and the delay of their own kind", async () => {
    const { store } = open();
    const { name } = await defineDue(store, -1, { payload: ada });
    const own = rules({ groupBy: "name", priority: 3, runInMs: 5_000 });
    const kinds = [own, rules({ kind: "z", priority: 9 })];
    await store.registerDefinition(registration({ name, settingsHash: "hash-2", kinds }));
    const { taskIds } = await fire(store, name);
    expect(await factsOf(store, at(taskIds, 0))).toMatchObject({ state: "scheduled", priority: 3 });
    await open().advance(5_000);
    await store.promoteScheduled({ name, max: 10 });
    expect(await groupKeys(store, name)).toEqual(["Ada"]);
  });

  test("a schedule's delay keeps its tasks from starting at once, without a group, too", async () => {
    const { store } = open();
    const { name } = await defineDue(store, -1, {});
    const kinds = [rules({ runInMs: 5_000 })];
    await store.registerDefinition(registration({ name, settingsHash: "hash-2", kinds }));
    await fire(store, name);
    expect(await statusOf(store, name)).toMatchObject({ scheduled: 1, ready: 0 });
  });

  test("a group by the instant is each task's own", async () => {
    const { store } = open();
    const { name, dueAt } = await defineDue(store, -1, {});
    const kinds = [rules({ groupBy: "scheduledFor" })];
    await store.registerDefinition(registration({ name, settingsHash: "hash-2", kinds }));
    await fire(store, name);
    await store.promoteScheduled({ name, max: 10 });
    expect(await groupKeys(store, name)).toEqual([dueAt.toISOString()]);
  });

  test("a schedule's own group is kept; a payload without a key is refused and the instant stands", async () => {
    const { store } = open();
    const own = await defineDue(store, -1, { payload: ada, group: "own" });
    const bad = await defineDue(store, -1, { payload: '{"name":true}' });
    const kinds = [rules({ groupBy: "name" })];
    for (const { name } of [own, bad])
      await store.registerDefinition(registration({ name, settingsHash: "hash-2", kinds }));
    await fire(store, own.name);
    await store.promoteScheduled({ name: own.name, max: 10 });
    expect(await groupKeys(store, own.name)).toEqual(["own"]);
    await expectError(fire(store, bad.name), {
      code: "TASKGATE_ARG_INVALID",
      value: "payload.name: expected a key",
    });
    expect(await statusOf(store, bad.name)).toMatchObject({ scheduled: 0, ready: 0 });
  });
}
