import { describe, expect, test } from "@jest/globals";
import type { TaskStore } from "../../shared/ports/task-store";
import type {
  AdvanceWatermarkInput,
  SetWatermarkInput,
  WatermarkStatus,
} from "../../shared/ports/task-store";
import {
  define,
  enqueue,
  idsOf,
  operationId,
  startWorker,
  statusOf,
  uniqueName,
} from "../support/builders";
import { expectError } from "../support/expect-error";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";

/** Watermarks: blocks are made exactly once, however many makers there are. */
export function describeWatermarks(setup: StoreSetup): void {
  describe("advance_watermark", () => {
    describeAdvance(setup);
  });
  describe("advance_watermark repeated", () => {
    describeRepeats(setup);
  });
  describe("advance_watermark with bad values", () => {
    describeBadAdvance(setup);
  });
  describe("advance_watermark inside a transaction", () => {
    describeInside(setup);
  });
  describe("set_watermark", () => {
    describeSet(setup);
  });
  describe("list_watermarks", () => {
    describeList(setup);
  });
}

/** A whole advance: two blocks, from nothing. */
function advance(
  name: string,
  changes: Partial<AdvanceWatermarkInput> = {},
): AdvanceWatermarkInput {
  return {
    name,
    watermark: "by-id",
    expectedVersion: "0",
    value: '{"last":"20"}',
    build: 1,
    tasks: [{ payload: '{"from":"1","to":"10"}' }, { payload: '{"from":"11","to":"20"}' }],
    operationId: null,
    ...changes,
  };
}

/** A whole change by an operator. */
function setTo(
  name: string,
  value: string | null,
  changes: Partial<SetWatermarkInput> = {},
): SetWatermarkInput {
  const who = { changedBy: "ada", operationId: operationId() };
  return { name, watermark: "by-id", value, ...who, ...changes };
}

/** The only watermark of a definition. */
async function read(store: TaskStore, name: string): Promise<WatermarkStatus | undefined> {
  const { watermarks } = await store.listWatermarks({ name, watermark: "by-id", max: 2 });
  expect(watermarks.length).toBeLessThan(2);
  return watermarks[0];
}

function describeAdvance(setup: StoreSetup): void {
  const open = useStore(setup);

  test("the first makes the watermark with its blocks, the next moves it from its version", async () => {
    const { store } = open();
    const name = await define(store);

    const first = await store.advanceWatermark(advance(name));
    const second = await store.advanceWatermark(
      advance(name, {
        expectedVersion: first.version,
        value: '{"last":"25"}',
        tasks: [{ payload: '{"from":"21","to":"25"}' }],
      }),
    );

    expect(first).toMatchObject({ status: "advanced", version: "1", value: null, ready: true });
    expect(first).toMatchObject({ outcomes: ["enqueued", "enqueued"], nextDueMs: null });
    expect(second).toMatchObject({ status: "advanced", version: "2", outcomes: ["enqueued"] });
    expect(await read(store, name)).toMatchObject({ value: '{"last":"25"}', version: "2" });
    const worker = await startWorker(store, name, { want: 4 });
    const { claimed } = await worker.work({ want: 4 });
    expect(claimed.map((task) => task.taskId)).toEqual([...first.taskIds, ...second.taskIds]);
    expect(claimed.map((task) => task.payload)).toEqual([
      { from: "1", to: "10" },
      { from: "11", to: "20" },
      { from: "21", to: "25" },
    ]);
  });

  test("advance_watermark takes the longest name of a definition, and of a watermark", async () => {
    const { store } = open();
    const name = await define(store, {}, "n".repeat(200));
    const watermark = "w".repeat(200);
    const first = await store.advanceWatermark(advance(name, { watermark }));
    expect(first).toMatchObject({ status: "advanced", version: "1" });
    expect(await statusOf(store, name)).toMatchObject({ ready: 2 });
  });

  test("another version is a conflict: the answer says the value in the table, nothing is written", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    await store.advanceWatermark(advance(name));
    const before = await opened.readVersions();

    for (const expectedVersion of ["0", "2", "9223372036854775807"]) {
      expect(
        await store.advanceWatermark(
          advance(name, { expectedVersion, value: "[]", operationId: operationId() }),
        ),
      ).toEqual({
        status: "conflict",
        version: "1",
        value: '{"last":"20"}',
        taskIds: [],
        outcomes: [],
        ready: false,
        nextDueMs: null,
      });
    }
    expect(await opened.readVersions()).toBe(before);
    expect(await statusOf(store, name)).toMatchObject({ ready: 2 });
  });

  test("a version of a watermark that doesn't exist is a conflict with version 0", async () => {
    const { store } = open();
    const name = await define(store);

    expect(await store.advanceWatermark(advance(name, { expectedVersion: "1" }))).toMatchObject({
      status: "conflict",
      version: "0",
      value: null,
    });
    expect(await read(store, name)).toBeUndefined();
    expect(await statusOf(store, name)).toMatchObject({ ready: 0 });
  });

  test("advance_watermark without tasks moves only the watermark", async () => {
    const { store } = open();
    const name = await define(store);

    expect(await store.advanceWatermark(advance(name, { tasks: [] }))).toEqual({
      status: "advanced",
      version: "1",
      value: null,
      taskIds: [],
      outcomes: [],
      ready: false,
      nextDueMs: null,
    });
    expect(await read(store, name)).toMatchObject({ version: "1" });
  });

  test("blocks are tasks like others: kind, priority, schedule, dedupe key", async () => {
    const { store } = open();
    const name = await define(store);
    const [known] = await enqueue(store, name, [{ dedupeKey: "k" }]);

    const answer = await store.advanceWatermark(
      advance(name, {
        tasks: [
          { payload: null, dedupeKey: "k" },
          { payload: null, kind: "other", priority: 7 },
          { payload: null, runInMs: 60_000 },
        ],
      }),
    );

    expect(answer.taskIds[0]).toBe(known);
    expect(answer).toMatchObject({
      outcomes: ["duplicate", "enqueued", "enqueued"],
      ready: true,
      nextDueMs: 60_000,
    });
    const worker = await startWorker(store, name, { want: 4 });
    const { claimed } = await worker.work({ want: 1 });
    expect(claimed).toMatchObject([{ kind: "other" }]);
  });

  test("a call that needs all of its blocks is refused where one is a duplicate, and writes nothing", async () => {
    const { store } = open();
    const name = await define(store);
    const [known] = await enqueue(store, name, [{ dedupeKey: "k" }]);
    const input = advance(name, {
      needsAll: true,
      operationId: operationId(),
      tasks: [
        { payload: null },
        { payload: null, dedupeKey: "own" },
        { payload: "[1]", dedupeKey: "k", onDuplicate: "replace" },
        { payload: null, dedupeKey: "own" },
      ],
    });

    for (const attempt of [input, input]) {
      await expect(store.advanceWatermark(attempt)).rejects.toMatchObject({
        code: "TASKGATE_ARG_CONFLICT",
        message: `tasks[2]: expected a dedupe key that no other task holds, as no block may be left out (task ${String(known)} holds it)`,
      });
    }
    expect(await read(store, name)).toBeUndefined();
    const worker = await startWorker(store, name, { want: 8 });
    const { claimed } = await worker.work({ want: 8 });
    expect(claimed.map(({ taskId }) => taskId)).toEqual([known]);

    const tasks = [{ payload: null, dedupeKey: "own" }, { payload: null }];
    const made = await store.advanceWatermark({ ...input, tasks });
    expect(made).toMatchObject({
      status: "advanced",
      version: "1",
      outcomes: ["enqueued", "enqueued"],
    });
  });

  test("grouped blocks are due now, and the group lets one in at a time", async () => {
    const { store } = open();
    const name = await define(store);

    const answer = await store.advanceWatermark(
      advance(name, {
        tasks: [
          { payload: null, group: "g" },
          { payload: null, group: "g" },
        ],
      }),
    );

    expect(answer).toMatchObject({ ready: false, nextDueMs: 0 });
    expect(await statusOf(store, name)).toMatchObject({ scheduled: 2, ready: 0 });
    const worker = await startWorker(store, name, { want: 4 });
    expect(idsOf((await worker.work({ want: 4 })).claimed)).toEqual(answer.taskIds.slice(0, 1));
    expect(await statusOf(store, name)).toMatchObject({ waiting: 1 });
  });

  test("watermarks of other names and definitions are others", async () => {
    const { store } = open();
    const name = await define(store);
    const other = await define(store);
    await store.advanceWatermark(advance(name));

    for (const input of [advance(name, { watermark: "By-id" }), advance(other)]) {
      expect(await store.advanceWatermark(input)).toMatchObject({ version: "1" });
    }
  });

  test("10,000 blocks go into one call, written in slices", async () => {
    const { store } = open();
    const name = await define(store);
    const tasks = Array.from({ length: 10_000 }, () => ({ payload: null }));

    const answer = await store.advanceWatermark(advance(name, { tasks }));

    expect(answer.taskIds).toHaveLength(10_000);
    expect(await statusOf(store, name)).toMatchObject({ ready: 10_000 });
    await expectError(
      store.advanceWatermark(
        advance(name, { expectedVersion: "1", tasks: [...tasks, { payload: null }] }),
      ),
      { code: "TASKGATE_ARG_TOO_LARGE", field: "tasks", value: "10001" },
    );
    expect(await read(store, name)).toMatchObject({ version: "1" });
  });
}

function describeRepeats(setup: StoreSetup): void {
  const open = useStore(setup);

  test("advance_watermark with the same operation id gives the first answer, also when the watermark went on", async () => {
    const { store } = open();
    const name = await define(store);
    const input = advance(name, { operationId: operationId() });
    const first = await store.advanceWatermark(input);
    await store.advanceWatermark(advance(name, { expectedVersion: "1", tasks: [] }));

    expect(await store.advanceWatermark(input)).toEqual(first);
    expect(await read(store, name)).toMatchObject({ version: "2" });
    expect(await statusOf(store, name)).toMatchObject({ ready: 2 });
  });

  test("an advance without blocks gives its first answer, too, also when the watermark went on", async () => {
    const { store } = open();
    const name = await define(store);
    const input = advance(name, { operationId: operationId(), tasks: [] });
    const first = await store.advanceWatermark(input);
    await store.advanceWatermark(advance(name, { expectedVersion: "1" }));

    expect(first).toMatchObject({ status: "advanced", version: "1", taskIds: [] });
    expect(await store.advanceWatermark(input)).toEqual(first);
    expect(await read(store, name)).toMatchObject({ version: "2" });
  });

  test("the first answer keeps duplicates and the next due instant", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueue(store, name, [{ dedupeKey: "k" }]);
    const input = advance(name, {
      operationId: operationId(),
      tasks: [
        { payload: null, dedupeKey: "k" },
        { payload: null, runInMs: 5_000 },
      ],
    });
    const first = await store.advanceWatermark(input);

    expect(first).toMatchObject({ outcomes: ["duplicate", "enqueued"], nextDueMs: 5_000 });
    expect(await store.advanceWatermark(input)).toEqual(first);
  });

  test("a conflict isn't remembered: its repeat reads the version again", async () => {
    const { store } = open();
    const name = await define(store);
    const input = advance(name, { expectedVersion: "1", operationId: operationId() });
    expect(await store.advanceWatermark(input)).toMatchObject({ status: "conflict" });
    await store.advanceWatermark(advance(name, { tasks: [] }));

    expect(await store.advanceWatermark(input)).toMatchObject({ status: "advanced", version: "2" });
  });

  test("an operation id of another operation is refused", async () => {
    const { store } = open();
    const name = await define(store);
    const used = operationId();
    await store.setWatermark(setTo(name, "[]", { operationId: used }));

    await expectError(store.advanceWatermark(advance(name, { operationId: used })), {
      code: "TASKGATE_ARG_CONFLICT",
      field: "operation_id",
      value: used,
    });
    await store.advanceWatermark(
      advance(name, { expectedVersion: "1", operationId: operationId() }),
    );
    expect(await read(store, name)).toMatchObject({ version: "2" });
  });
}

function describeBadAdvance(setup: StoreSetup): void {
  const open = useStore(setup);
  const bad: [string, Partial<AdvanceWatermarkInput>, string, string][] = [
    ["an empty name", { watermark: "" }, "watermark", ""],
    ["blanks around the name", { watermark: " x" }, "watermark", " x"],
    ["a version that is no number", { expectedVersion: "one" }, "expected_version", "one"],
    ["a negative version", { expectedVersion: "-1" }, "expected_version", "-1"],
    ["a value that isn't JSON", { value: "{" }, "value", "{"],
    ["a value that is a number", { value: "7" }, "value", "7"],
    ["a bad task", { tasks: [{ payload: null, group: "" }] }, "tasks[0].group", ""],
  ];

  for (const [what, changes, field, value] of bad) {
    test(`${what} is refused, naming field and value`, async () => {
      const { store } = open();
      const name = await define(store);

      await expectError(store.advanceWatermark(advance(name, changes)), {
        code: "TASKGATE_ARG_INVALID",
        field: field.replace("[0]", "\\[0\\]"),
        value,
      });
      expect(await read(store, name)).toBeUndefined();
    });
  }

  test("a value of more than 64 KiB is refused, one of 64 KiB isn't", async () => {
    const { store } = open();
    const name = await define(store);
    const ofBytes = (bytes: number) => `["${"é".repeat((bytes - 4) / 2)}"]`;

    await expectError(store.advanceWatermark(advance(name, { value: ofBytes(65_538) })), {
      code: "TASKGATE_ARG_TOO_LARGE",
      field: "value",
      value: 65_538,
    });
    await store.advanceWatermark(advance(name, { value: ofBytes(65_536) }));
    expect((await read(store, name))?.value).toBe(ofBytes(65_536));
  });

  test("an unknown definition is refused", async () => {
    const { store } = open();

    await expectError(store.advanceWatermark(advance("nobody")), {
      code: "TASKGATE_ARG_UNKNOWN",
      field: "name",
      value: "nobody",
    });
  });
}

function describeInside(setup: StoreSetup): void {
  const open = useStore(setup);

  test("advance_watermark commits with the transaction, or not at all", async () => {
    const { store } = open();
    const name = await define(store);
    const broken = new Error("no");

    await expect(
      store.transaction(async (transaction) => {
        await store.advanceWatermark(advance(name), transaction);
        throw broken;
      }),
    ).rejects.toBe(broken);
    expect(await read(store, name)).toBeUndefined();
    const versions = await store.transaction(async (transaction) => {
      const first = await store.advanceWatermark(advance(name), transaction);
      const next = advance(name, { expectedVersion: first.version, tasks: [] });
      const second = await store.advanceWatermark(next, transaction);
      return [first.version, second.version];
    });

    expect(versions).toEqual(["1", "2"]);
    expect(await read(store, name)).toMatchObject({ version: "2" });
    expect(await statusOf(store, name)).toMatchObject({ ready: 2 });
  });

  test("a conflict leaves the transaction as it was", async () => {
    const { store } = open();
    const name = await define(store);
    await store.advanceWatermark(advance(name));

    await store.transaction(async (transaction) => {
      const answer = await store.advanceWatermark(advance(name), transaction);
      expect(answer.status).toBe("conflict");
      const task = { name, build: 1, tasks: [{ payload: null }], operationId: null };
      await store.enqueueTasks(task, transaction);
    });

    expect(await statusOf(store, name)).toMatchObject({ ready: 3 });
  });
}

function describeSet(setup: StoreSetup): void {
  const open = useStore(setup);

  test("set_watermark back lets the next maker begin there, and tells a reader of the old one", async () => {
    const { store } = open();
    const name = await define(store);
    await store.advanceWatermark(advance(name));

    const answer = await store.setWatermark(setTo(name, '{"last":"5"}'));

    expect(answer).toEqual({ status: "set", version: "2", oldValue: '{"last":"20"}' });
    expect(await store.advanceWatermark(advance(name, { expectedVersion: "1" }))).toMatchObject({
      status: "conflict",
      version: "2",
      value: '{"last":"5"}',
    });
    expect(await read(store, name)).toMatchObject({ value: '{"last":"5"}', version: "2" });
  });

  test("set_watermark to none removes the value, and the version goes on, so that no old reader mistakes it", async () => {
    const { store } = open();
    const name = await define(store);
    await store.advanceWatermark(advance(name));

    expect(await store.setWatermark(setTo(name, null))).toMatchObject({ version: "2" });
    expect(await read(store, name)).toMatchObject({ value: null, version: "2" });
    expect(await store.advanceWatermark(advance(name))).toMatchObject({
      status: "conflict",
      version: "2",
      value: null,
    });
    expect(await store.setWatermark(setTo(name, "[1]"))).toEqual({
      status: "set",
      version: "3",
      oldValue: null,
    });
  });

  test("set_watermark makes a watermark that doesn't exist: makers begin where an operator says", async () => {
    const { store } = open();
    const name = await define(store);

    expect(await store.setWatermark(setTo(name, "[7]", { expectedVersion: "0" }))).toEqual({
      status: "set",
      version: "1",
      oldValue: null,
    });
    expect(await read(store, name)).toMatchObject({ value: "[7]", version: "1" });
  });

  test("set_watermark moves only from the expected version, if one is given", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const none = { status: "conflict", version: "0", oldValue: null };
    expect(await store.setWatermark(setTo(name, "[]", { expectedVersion: "1" }))).toEqual(none);
    await store.advanceWatermark(advance(name));

    for (const expectedVersion of ["0", "2"]) {
      expect(await store.setWatermark(setTo(name, "[]", { expectedVersion }))).toEqual({
        status: "conflict",
        version: "1",
        oldValue: '{"last":"20"}',
      });
    }
    expect(await store.setWatermark(setTo(name, "[]", { expectedVersion: "1" }))).toMatchObject({
      status: "set",
      version: "2",
    });
  });

  test("a repeat with the same operation id gives the first answer and sets nothing", async () => {
    const { store } = open();
    const name = await define(store);
    await store.advanceWatermark(advance(name));
    const input = setTo(name, "[1]");
    const first = await store.setWatermark(input);
    await store.advanceWatermark(advance(name, { expectedVersion: "2", tasks: [], value: "[2]" }));

    expect(await store.setWatermark(input)).toEqual(first);
    expect(await read(store, name)).toMatchObject({ value: "[2]", version: "3" });
    await expectError(store.enqueueTasks({ ...input, build: 1, tasks: [{ payload: null }] }), {
      code: "TASKGATE_ARG_CONFLICT",
      field: "operation_id",
      value: input.operationId,
    });
  });

  testWith(setup, "audit")(
    "set_watermark writes down its actor, its reason, the old and the new value",
    async () => {
      const opened = open();
      const name = await define(opened.store);
      await opened.store.setWatermark(
        setTo(name, `["${"x".repeat(300)}"]`, { reason: "late data" }),
      );
      await opened.store.setWatermark(setTo(name, null));
      await opened.store.setWatermark(setTo(name, '["2 of 3 often"]'));

      const audit = (await opened.readAudit(name)).filter(({ setting }) => setting === "watermark");
      const shown = `["${"x".repeat(188)} of by-id`;
      const who = { setting: "watermark", source: "operator", changedBy: "ada" };
      expect(audit).toEqual([
        { ...who, oldValue: null, newValue: shown, reason: "late data" },
        { ...who, oldValue: shown, newValue: null, reason: null },
        // The same JSON, and what follows the first ` of ` is the name.
        {
          ...who,
          oldValue: null,
          newValue: String.raw`["2 o\u0066 3 o\u0066ten"] of by-id`,
          reason: null,
        },
      ]);
    },
  );

  const bad: [string, Partial<SetWatermarkInput>, string, string][] = [
    ["an empty name", { watermark: "" }, "watermark", ""],
    ["a version that is no number", { expectedVersion: "1.5" }, "expected_version", "1.5"],
    ["a value that is a text", { value: '"x"' }, "value", '"x"'],
  ];

  for (const [what, changes, field, value] of bad) {
    test(`${what} is refused, naming field and value`, async () => {
      const { store } = open();
      const name = await define(store);

      await expectError(store.setWatermark(setTo(name, "[]", changes)), {
        code: "TASKGATE_ARG_INVALID",
        field,
        value,
      });
    });
  }

  test("an unknown definition is refused, and an operation id of another operation", async () => {
    const { store } = open();
    await expectError(store.setWatermark(setTo("nobody", "[]")), {
      code: "TASKGATE_ARG_UNKNOWN",
      field: "name",
      value: "nobody",
    });
    const name = await define(store);
    const used = operationId();
    await store.advanceWatermark(advance(name, { operationId: used }));
    await expectError(store.setWatermark(setTo(name, "[]", { operationId: used })), {
      code: "TASKGATE_ARG_CONFLICT",
      field: "operation_id",
      value: used,
    });
  });
}

function describeList(setup: StoreSetup): void {
  const open = useStore(setup);

  test("list_watermarks lists by definition as registered, then name, with the instant of the last change", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, {}, uniqueName("z"));
    const other = await define(store, {}, uniqueName("a"));
    await store.advanceWatermark(advance(other));
    for (const watermark of ["b", "a", "B"])
      await store.setWatermark(setTo(name, "[]", { watermark }));
    await opened.advance(60_000);
    await store.advanceWatermark(advance(name, { watermark: "a", expectedVersion: "1" }));

    const { watermarks } = await store.listWatermarks({ max: 10 });

    expect(watermarks.map(({ definition, name: of }) => [definition, of])).toEqual([
      [name, "B"],
      [name, "a"],
      [name, "b"],
      [other, "by-id"],
    ]);
    const [, changed, early] = watermarks.map(({ changedAt }) => Date.parse(changedAt));
    expect((changed ?? 0) - (early ?? 0)).toBeGreaterThanOrEqual(60_000);
    expect(watermarks[0]?.changedAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  test("list_watermarks lists those of one definition, of one name, and only so many", async () => {
    const { store } = open();
    const name = await define(store, {}, uniqueName('quote"'));
    const other = await define(store);
    const watermark = 'back\\slash "quoted"';
    await store.setWatermark(setTo(name, '{"a":"\\"é\\n"}', { watermark }));
    await store.setWatermark(setTo(name, "[]"));
    await store.setWatermark(setTo(other, "[]", { watermark }));

    const namesOf = async (input: Parameters<TaskStore["listWatermarks"]>[0]) =>
      (await store.listWatermarks(input)).watermarks.map((entry) => entry.name);
    expect(await namesOf({ name, max: 10 })).toEqual([watermark, "by-id"]);
    expect(await namesOf({ name, max: 1 })).toEqual([watermark]);
    expect(await namesOf({ watermark, max: 10 })).toEqual([watermark, watermark]);
    expect(await namesOf({ watermark: "none", max: 10 })).toEqual([]);
    const { watermarks } = await store.listWatermarks({ name, watermark, max: 1 });
    expect(watermarks).toMatchObject([
      { definition: name, name: watermark, value: '{"a":"\\"é\\n"}', version: "1" },
    ]);
  });

  test("an unknown definition and a bad number are refused", async () => {
    const { store } = open();
    await expectError(store.listWatermarks({ name: "nobody", max: 1 }), {
      code: "TASKGATE_ARG_UNKNOWN",
      field: "name",
      value: "nobody",
    });
    for (const max of [0, 1_001]) {
      await expectError(store.listWatermarks({ max }), {
        code: "TASKGATE_ARG_INVALID",
        field: "max",
        value: max,
      });
    }
  });
}
