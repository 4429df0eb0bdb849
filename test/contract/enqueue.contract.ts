import { describe, expect, test } from "@jest/globals";
import type { EnqueueTasksInput, NewTask } from "../../shared/ports/task-store";
import {
  at,
  define,
  enqueue,
  enqueueOne,
  factsOf,
  idsOf,
  operationId,
  startWorker,
  statusOf,
} from "../support/builders";
import { expectError } from "../support/expect-error";
import { useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";
import { jsonOfBytes } from "./completion.contract";

/** Adding tasks in bulk. */
export function describeEnqueue(setup: StoreSetup): void {
  describe("enqueue_tasks", () => {
    describeBulk(setup);
  });
  describe("enqueue_tasks by operation id", () => {
    describeOperationId(setup);
  });
  describe("enqueue_tasks refuses", () => {
    describeBadTasks(setup);
  });
}

function describeBulk(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a task is there when the call returned, with everything it was given", async () => {
    const { store } = open();
    const name = await define(store);
    const answer = await store.enqueueTasks({
      name,
      build: 3,
      operationId: null,
      tasks: [{ payload: '{"n":1}', kind: "resize", priority: 7, dedupeKey: "k" }],
    });
    expect(answer).toMatchObject({ outcomes: ["enqueued"], ready: true, nextDueMs: null });
    expect(await factsOf(store, at(answer.taskIds, 0))).toMatchObject({
      definition: name,
      state: "ready",
      kind: "resize",
      priority: 7,
      payload: '{"n":1}',
      dedupeKey: "k",
      failedCount: 0,
      lostCount: 0,
    });
  });

  test("enqueue_tasks takes the definition's name as kind, priority 100 and no payload by default", async () => {
    const { store } = open();
    const name = await define(store);
    const facts = await factsOf(store, await enqueueOne(store, name));
    expect(facts).toMatchObject({ kind: name, priority: 100, payload: null, dedupeKey: null });
  });

  test("each task of a call has the trace that it was given, or none", async () => {
    const { store } = open();
    const name = await define(store);
    const other = traceParent.replace("01", "00");
    const calls = [
      [traceParent, traceParent],
      [traceParent, other, null],
      [null, traceParent],
      [null, null],
    ];
    for (const traces of calls) {
      const tasks = traces.map((trace) => (trace === null ? {} : { traceParent: trace }));
      const ids = await enqueue(store, name, tasks);
      const facts = await Promise.all(ids.map((id) => factsOf(store, id)));
      expect(facts.map((task) => task.traceParent)).toEqual(traces);
    }
  });

  test("10,000 tasks of one call get ids in input order, which are in the order of creation", async () => {
    const { store } = open();
    const name = await define(store, { limit: 1_000, prefetchMax: 0 });
    const tasks = Array.from({ length: 10_000 }, (_, index) => ({
      payload: `{"n":${String(index)}}`,
    }));
    const answer = await store.enqueueTasks({ name, build: 1, operationId: null, tasks });
    const numbers = answer.taskIds.map(BigInt);
    expect(new Set(numbers).size).toBe(10_000);
    expect(numbers.every((id, index) => index === 0 || id > (numbers[index - 1] ?? id))).toBe(true);
    expect(answer.outcomes).toHaveLength(10_000);
    const worker = await startWorker(store, name, { want: 1_000 });
    const claimed = await worker.claim(1_000);
    expect(claimed.map((task) => task.payload)).toEqual(
      Array.from({ length: 1_000 }, (_, n) => ({ n })),
    );
    expect(idsOf(claimed)).toEqual(answer.taskIds.slice(0, 1_000));
  });

  test("enqueue_tasks takes 10,000 grouped, keyed and scheduled tasks in one call", async () => {
    const { store } = open();
    const name = await define(store);
    const tasks = Array.from({ length: 10_000 }, (_, index): Partial<NewTask> => {
      if (index % 3 === 0) return { group: `g${String(index % 300)}` };
      return index % 3 === 1 ? { dedupeKey: `k${String(index)}` } : { runInMs: 1_000 + index };
    });
    await enqueue(store, name, tasks);
    expect(await statusOf(store, name)).toMatchObject({
      ready: 100 + 3_333,
      waiting: 3_334 - 100,
      scheduled: 3_333,
    });
  });

  test("the answer's ready says whether some tasks may be claimed at once", async () => {
    const { store } = open();
    const name = await define(store);
    const call = (tasks: Partial<NewTask>[]) =>
      store.enqueueTasks({
        name,
        build: 1,
        operationId: null,
        tasks: tasks.map((task) => ({ payload: null, ...task })),
      });
    expect((await call([{ runInMs: 5_000 }])).ready).toBe(false);
    expect((await call([{ group: "g" }])).ready).toBe(true);
    expect((await call([{ group: "g" }])).ready).toBe(false);
    expect((await call([{ group: "g" }, {}])).ready).toBe(true);
    expect((await call([{ dedupeKey: "k" }])).ready).toBe(true);
    expect((await call([{ dedupeKey: "k" }])).ready).toBe(false);
  });

  test("a paused definition takes tasks", async () => {
    const { store } = open();
    const name = await define(store);
    await store.pauseDefinition({ name, changedBy: "an operator" });
    await enqueue(store, name, 2);
    expect((await statusOf(store, name)).ready).toBe(2);
  });
}

function describeOperationId(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a repeat gives the first answer: the same ids, nothing added", async () => {
    const { store } = open();
    const name = await define(store);
    const input: EnqueueTasksInput = {
      name,
      build: 1,
      operationId: operationId(),
      tasks: [
        { payload: "{}" },
        { payload: null, group: "g" },
        { payload: null, runInMs: 9_000 },
        { payload: null, dedupeKey: "k" },
      ],
    };
    const first = await store.enqueueTasks(input);
    expect(await store.enqueueTasks(input)).toEqual(first);
    expect(await statusOf(store, name)).toMatchObject({ ready: 3, scheduled: 1 });
  });

  test("a repeat of enqueue_tasks gets the first answer, also with duplicates in it, and after the tasks ended", async () => {
    const { store } = open();
    const name = await define(store);
    const input: EnqueueTasksInput = {
      name,
      build: 1,
      operationId: operationId(),
      tasks: [
        { payload: null, dedupeKey: "k" },
        { payload: null, dedupeKey: "k" },
      ],
    };
    const first = await store.enqueueTasks(input);
    expect(first.outcomes).toEqual(["enqueued", "duplicate"]);
    const worker = await startWorker(store, name);
    await worker.complete([await worker.claimOne()]);
    expect(await store.enqueueTasks(input)).toEqual(first);
    expect(await statusOf(store, name)).toMatchObject({ ready: 0, done: 1 });
  });

  test("ten calls of enqueue_tasks with one operation id at once enqueue once", async () => {
    const { store } = open();
    const name = await define(store);
    const tasks = [{ payload: null }, { payload: null }];
    const input = { name, build: 1, operationId: operationId(), tasks };
    const answers = await Promise.all(Array.from({ length: 10 }, () => store.enqueueTasks(input)));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect((await statusOf(store, name)).ready).toBe(2);
  });

  test("each call of enqueue_tasks without an operation id enqueues", async () => {
    const { store } = open();
    const name = await define(store);
    const input = { name, build: 1, operationId: null, tasks: [{ payload: null }] };
    await store.enqueueTasks(input);
    await store.enqueueTasks(input);
    expect((await statusOf(store, name)).ready).toBe(2);
  });

  test("a call that failed leaves its operation id free", async () => {
    const { store } = open();
    const name = await define(store);
    const input = { name, build: 1, operationId: operationId() };
    await expectError(store.enqueueTasks({ ...input, tasks: [{ payload: "7" }] }), {
      code: "TASKGATE_ARG_INVALID",
    });
    expect(
      (await store.enqueueTasks({ ...input, tasks: [{ payload: "[7]" }] })).taskIds,
    ).toHaveLength(1);
  });
}

const traceParent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/** One bad field per entry. */
const badTasks: { why: string; field: string; value: string | number; task: Partial<NewTask> }[] = [
  { why: "no JSON", field: "payload", value: "no json", task: { payload: "no json" } },
  { why: "JSON that is cut", field: "payload", value: '{"a":', task: { payload: '{"a":' } },
  { why: "a JSON number", field: "payload", value: "7", task: { payload: "7" } },
  { why: "a JSON text", field: "payload", value: '"text"', task: { payload: '"text"' } },
  { why: "a JSON null", field: "payload", value: "null", task: { payload: "null" } },
  { why: "an empty payload", field: "payload", value: "", task: { payload: "" } },
  { why: "an empty kind", field: "kind", value: "", task: { kind: "" } },
  {
    why: "a kind of 201 characters",
    field: "kind",
    value: "k".repeat(201),
    task: { kind: "k".repeat(201) },
  },
  { why: "a blank before the kind", field: "kind", value: " k", task: { kind: " k" } },
  { why: "a blank after the kind", field: "kind", value: "k ", task: { kind: "k " } },
  { why: "too low a priority", field: "priority", value: -32_769, task: { priority: -32_769 } },
  { why: "too high a priority", field: "priority", value: 32_768, task: { priority: 32_768 } },
  { why: "a priority of no whole number", field: "priority", value: 1.5, task: { priority: 1.5 } },
  {
    why: "a priority far beyond",
    field: "priority",
    value: 10_000_000_000,
    task: { priority: 10_000_000_000 },
  },
  { why: "an empty group", field: "group", value: "", task: { group: "" } },
  { why: "an empty dedupe key", field: "dedupeKey", value: "", task: { dedupeKey: "" } },
  {
    why: "a dedupe key of 201 characters",
    field: "dedupeKey",
    value: "d".repeat(201),
    task: { dedupeKey: "d".repeat(201) },
  },
  {
    why: "a blank after the dedupe key",
    field: "dedupeKey",
    value: "d ",
    task: { dedupeKey: "d " },
  },
  { why: "a window of 0", field: "dedupeMs", value: 0, task: { dedupeKey: "k", dedupeMs: 0 } },
  {
    why: "a window above 100 years",
    field: "dedupeMs",
    value: 3_153_600_000_001,
    task: { dedupeKey: "k", dedupeMs: 3_153_600_000_001 },
  },
  { why: "a negative delay", field: "runInMs", value: -1, task: { runInMs: -1 } },
  {
    why: "a delay above 100 years",
    field: "runInMs",
    value: 3_153_600_000_001,
    task: { runInMs: 3_153_600_000_001 },
  },
  { why: "a delay of no whole number", field: "runInMs", value: 0.5, task: { runInMs: 0.5 } },
  {
    why: "both delay and instant",
    field: "runAt",
    value: "",
    task: { runInMs: 1, runAt: new Date() },
  },
  ...[
    "x",
    "t".repeat(55),
    `${traceParent}0`,
    `${traceParent} `,
    traceParent.toUpperCase(),
    traceParent.replace("-", "_"),
    // As many digits, with a dash one place too late; as long, with a dash in place of a digit.
    traceParent.replace(/^00-(.)/, "00$1-"),
    traceParent.replace(/^00-./, "00--"),
  ].map((value) => ({
    why: `the trace ${value}`,
    field: "trace",
    value,
    task: { traceParent: value },
  })),
];

function describeBadTasks(setup: StoreSetup): void {
  const open = useStore(setup);

  for (const { why, field, value, task } of badTasks) {
    test(`enqueue_tasks refuses ${why}, naming entry, field and value, and adds nothing`, async () => {
      const { store } = open();
      const name = await define(store);
      await expectError(enqueue(store, name, [{}, task]), {
        code: "TASKGATE_ARG_INVALID",
        field: `tasks.1..${field}`,
        value,
      });
      expect(await statusOf(store, name)).toMatchObject({ ready: 0, scheduled: 0 });
    });
  }

  test("enqueue_tasks refuses no value at the ends of its range", async () => {
    const { store } = open();
    const name = await define(store);
    const good: Partial<NewTask>[] = [
      { kind: "k".repeat(200), dedupeKey: "d".repeat(200), group: "g".repeat(200) },
      { kind: "k", dedupeKey: "d", group: "g" },
      {
        kind: "\u{1f680}".repeat(100),
        dedupeKey: "\u{1f680}".repeat(100),
        group: "\u{1f680}".repeat(100),
      },
      { priority: -32_768 },
      { priority: 32_767 },
      { runInMs: 0 },
      { runInMs: 3_153_600_000_000 },
      { dedupeKey: "w1", dedupeMs: 1 },
      { dedupeKey: "w2", dedupeMs: 3_153_600_000_000 },
      { traceParent },
    ];
    expect(await enqueue(store, name, good)).toHaveLength(good.length);
  });

  test("enqueue_tasks refuses 101 emoji in a key: 202 UTF-16 units don't fit everywhere", async () => {
    const { store } = open();
    const name = await define(store);
    const key = "\u{1f680}".repeat(101);
    for (const task of [{ kind: key }, { group: key }, { dedupeKey: key }]) {
      await expectError(enqueue(store, name, [task]), { code: "TASKGATE_ARG_INVALID" });
    }
  });

  test("U+0000 and lone surrogates in a key: neither is stored as something else", async () => {
    const { store } = open();
    const name = await define(store);
    for (const key of ["a\u0000b", "a\ud800b", "a\udc00b"]) {
      for (const task of [{ kind: key }, { group: key }, { dedupeKey: key }]) {
        await expectError(enqueue(store, name, [task]), { code: "TASKGATE_ARG_INVALID" });
      }
    }
    expect((await statusOf(store, name)).ready).toBe(0);
  });

  test("numbers that aren't numbers: none becomes a default in silence", async () => {
    const { store } = open();
    const name = await define(store);
    for (const task of [
      { priority: Number.NaN },
      { runInMs: Number.NaN },
      { runInMs: Infinity },
      { runAt: new Date(Number.NaN) },
    ]) {
      await expectError(enqueue(store, name, [task]), { code: "TASKGATE_ARG_INVALID" });
    }
    expect(await statusOf(store, name)).toMatchObject({ ready: 0, scheduled: 0 });
  });

  for (const { title, filler } of [
    { title: "ASCII", filler: "a" },
    { title: "two-byte characters", filler: "\u00e4" },
    { title: "emoji", filler: "\u{1f680}" },
  ]) {
    test(`a payload of 65,537 bytes of ${title}, naming entry and size; 65,536 are kept`, async () => {
      const { store } = open();
      const name = await define(store);
      const payload = jsonOfBytes(65_536, filler);
      const taskId = await enqueueOne(store, name, { payload });
      expect((await factsOf(store, taskId)).payload).toBe(payload);
      const tooLarge = enqueue(store, name, [{}, { payload: jsonOfBytes(65_537, filler) }]);
      await expectError(tooLarge, {
        code: "TASKGATE_ARG_TOO_LARGE",
        field: "tasks.1..payload",
        value: 65_537,
      });
    });
  }

  test("enqueue_tasks refuses no task, 10,001 tasks and more than 8 MiB", async () => {
    const { store } = open();
    const name = await define(store);
    const call = (tasks: NewTask[]) =>
      store.enqueueTasks({ name, build: 1, operationId: null, tasks });
    const expected = { code: "TASKGATE_ARG_TOO_LARGE", field: "tasks" } as const;
    await expectError(call([]), { ...expected, value: 0 });
    await expectError(call(Array.from({ length: 10_001 }, () => ({ payload: null }))), {
      ...expected,
      value: 10_001,
    });
    const payload = jsonOfBytes(65_536, "a");
    await expectError(call(Array.from({ length: 130 }, () => ({ payload }))), expected);
    expect((await statusOf(store, name)).ready).toBe(0);
  });

  test("enqueue_tasks refuses an unknown definition, naming it", async () => {
    const { store } = open();
    await expectError(enqueue(store, "nobody", 1), {
      code: "TASKGATE_ARG_UNKNOWN",
      field: "name",
      value: "nobody",
    });
  });
}
