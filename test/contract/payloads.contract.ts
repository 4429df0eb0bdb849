import { describe, expect, test } from "@jest/globals";
import type { TaskId } from "../../shared/core/ids";
import type { NewTask, TaskFacts, TaskStore } from "../../shared/ports/task-store";
import {
  at,
  define,
  enqueue,
  enqueueOne,
  factsOf,
  operationId,
  statusOf,
} from "../support/builders";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";
import { hold, makeBatch } from "./batch-builders";
import { refusalOf } from "./refused-sql";

/*
 * Tasks of one call that differ in nothing but their payloads. The store sends what they have in common once, and the
 * payloads as they are, beside it; plain SQL may do the same.
 */
export function describePayloads(setup: StoreSetup): void {
  describe("tasks of one call that differ in their payloads alone", () => {
    describeAlike(setup);
  });
  describe("payloads beside one entry in plain SQL", () => {
    describeSql(setup);
  });
}

const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const due = new Date("2999-01-01T00:00:00.000Z");
const payloads = ['{"n":1}', "[2]", '{"n":3}'];

const commons: readonly [what: string, common: Partial<NewTask>][] = [
  ["nothing", {}],
  ["a kind, a priority and a trace", { kind: "letter", priority: -7, traceParent: trace }],
  ["a group", { group: "g", kind: "letter" }],
  ["a global group", { group: "g", groupScope: "global" }],
  ["no group, said so", { group: null }],
  ["a delay", { runInMs: 3_600_000 }],
  ["an instant", { runAt: due, priority: 3 }],
  ["a dedupe key", { dedupeKey: "k" }],
  ["a dedupe key that is held for a time", { dedupeKey: "k", dedupeMs: 60_000 }],
];

/** What a list shows of a task, but for its ids and its instants. */
const shown = ({ kind, state, priority, dedupeKey, payload, traceParent, group }: TaskFacts) => ({
  isLetter: kind === "letter",
  ...{ state, priority, dedupeKey, payload, traceParent },
  group: group === undefined ? null : { key: group.key, isGlobal: group.isGlobal },
});

async function factsOfAll(store: TaskStore, ids: readonly TaskId[]): Promise<TaskFacts[]> {
  const facts: TaskFacts[] = [];
  for (const id of ids) facts.push(await factsOf(store, id));
  return facts;
}

function describeAlike(setup: StoreSetup): void {
  const open = useStore(setup);

  for (const [what, common] of commons)
    test(`payloads of one call are what single calls would add, where they have in common ${what}`, async () => {
      const { store } = open();
      const together = await define(store);
      const answer = await store.enqueueTasks({
        name: together,
        build: 4,
        operationId: operationId(),
        tasks: payloads.map((payload) => ({ payload, ...common })),
      });
      const apart = await define(store);
      const rest = common.groupScope === "global" ? { ...common, group: "another" } : common;
      const ids = [];
      for (const payload of payloads)
        ids.push(await enqueueOne(store, apart, { payload, ...rest }));
      const isDuplicate = common.dedupeKey !== undefined;
      expect(answer.outcomes).toEqual(
        payloads.map((_, index) => (isDuplicate && index > 0 ? "duplicate" : "enqueued")),
      );
      const facts = (await factsOfAll(store, answer.taskIds)).map(shown);
      const others = (await factsOfAll(store, ids)).map(shown);
      expect(facts).toEqual(
        others.map(({ group, ...other }) => ({
          ...other,
          group: group === null ? null : { ...group, key: "g" },
        })),
      );
      expect(facts.map(({ payload }) => payload)).toEqual(
        isDuplicate ? payloads.map(() => payloads[0]) : payloads,
      );
      const [one, other] = [await statusOf(store, together), await statusOf(store, apart)];
      const counts = ({ ready, waiting, scheduled }: typeof one) => ({ ready, waiting, scheduled });
      expect(counts(one)).toEqual(counts(other));
    });

  test("payloads of one call replace a task that has the key of all, by the first of them", async () => {
    const { store } = open();
    const name = await define(store);
    const first = await enqueueOne(store, name, { payload: "{}", dedupeKey: "k" });
    const { outcomes } = await store.enqueueTasks({
      name,
      build: 1,
      operationId: null,
      tasks: payloads.map((payload) => ({ payload, dedupeKey: "k", onDuplicate: "replace" })),
    });
    // Of several entries with one key the first decides.
    expect(outcomes).toEqual(["replaced", "duplicate", "duplicate"]);
    expect((await factsOf(store, first)).payload).toBe(payloads[0]);
  });

  test("payloads of one call keep their texts to the letter", async () => {
    const { store } = open();
    const name = await define(store);
    const texts = [
      ' { "a" : 1.50 , "a" : 2e0 } ',
      "[ ]",
      String.raw`{"quote":"\" \\ \/ é \u00e9 \u0000 \ud83d\ude00 😀","]":"[{"}`,
      `[${"[".repeat(99)}${"]".repeat(99)}]`,
    ].map((text) => text.trim());
    const ids = await enqueue(
      store,
      name,
      texts.map((payload) => ({ payload })),
    );
    const kept = await factsOfAll(store, ids);
    expect(kept.map(({ payload }) => payload)).toEqual(texts);
  });

  test("payloads of one call enter a wave, and wait there", async () => {
    const { store } = open();
    const name = await define(store);
    const { batchId, waveIds } = await makeBatch(store, 1);
    const tasks = payloads.map((payload) => ({ payload, group: "g" }));
    const { taskIds } = await hold(store, { name, waveId: waveIds[0] }, tasks);
    expect((await factsOf(store, at(taskIds, 2))).state).toBe("blocked");
    await store.startBatch({ batchId, seal: true });
    await store.pumpBatch({ batchId, max: 10 });
    expect((await factsOf(store, at(taskIds, 2))).payload).toBe(payloads[2]);
  });

  test("payloads of one call are answered once more when the call is repeated", async () => {
    const { store } = open();
    const name = await define(store);
    const tasks = payloads.map((payload) => ({ payload }));
    const call = { name, build: 1, operationId: operationId(), tasks };
    const first = await store.enqueueTasks(call);
    expect(await store.enqueueTasks(call)).toEqual(first);
    expect(await statusOf(store, name)).toMatchObject({ ready: 3 });
  });

  test("payloads of an operator's call are in the audit, each of them", async () => {
    const { store } = open();
    const name = await define(store);
    const tasks = payloads.map((payload) => ({ payload }));
    const { taskIds } = await store.enqueueTasks({
      ...{ name, build: 1, operationId: operationId(), tasks },
      ...{ changedBy: "ada", reason: "late files" },
    });
    const [entry] = (await store.listAudit({ max: 1 })).entries;
    const told = { action: "enqueue_tasks", actor: "ada", reason: "late files", tasks: taskIds };
    expect(entry).toMatchObject(told);
  });
}

/** A call in plain SQL that isn't repeated. */
function callOf(tasks: string, given: string): { postgres: string; mssql: string } {
  const [entries, list] = [tasks, given].map((text) => text.replaceAll("'", "''"));
  return {
    postgres: `enqueue_tasks('demo', 1, '${entries}', p_payloads => '${list}')`,
    mssql: `EnqueueTasks 'demo', 1, N'${entries}', @Payloads = N'${list}'`,
  };
}

const refused: readonly [tasks: string, given: string, says: string][] = [
  ["[{}]", "", "payloads: expected a JSON array ()"],
  ["[{}]", "{}", "payloads: expected a JSON array ({})"],
  ["[{}]", '{"a":[1]}', 'payloads: expected a JSON array ({"a":[1]})'],
  ["[{}]", "7", "payloads: expected a JSON array (7)"],
  ["[{}]", "[{}", "payloads: expected a JSON array ([{})"],
  ["[{}]", "[{}]]", "payloads: expected a JSON array ([{}]])"],
  ["[{}]", "[]", "tasks: expected 1..10000 entries (0)"],
  ["[{}]", `[${"{},".repeat(10_000)}{}]`, "tasks: expected 1..10000 entries (10001)"],
  ["[]", "[{}]", "tasks: expected one entry beside payloads (0)"],
  ["[{},{}]", "[{}]", "tasks: expected one entry beside payloads (2)"],
  ["[7]", "[{}]", "tasks: expected a JSON array of objects ([7])"],
  ['[{"payload":"{}"}]', "[{}]", "tasks[0].payload: expected none beside payloads"],
  ['[{"payload":{}}]', "[{}]", "tasks[0].payload: expected none beside payloads"],
  ["[{}]", "[{},[],7]", "tasks[2].payload: expected the text of a JSON object or array (7)"],
  ["[{}]", "[{},null]", "tasks[1].payload: expected the text of a JSON object or array (null)"],
  ["[{}]", '[{},"{}"]', "tasks[1].payload: expected the text of a JSON object or array ("],
  ["[{}]", '[{},"x"]', "tasks[1].payload: expected the text of a JSON object or array ("],
  [
    "[{}]",
    `[{},{"a":"${"x".repeat(65_536)}"}]`,
    "tasks[1].payload: expected at most 65536 bytes (65544)",
  ],
  ['[{"kind":" k"}]', "[{},{}]", "tasks[0].kind: expected 1..200 characters"],
  ['[{"priority":"x"}]', "[{},{}]", "tasks[0].priority: expected a whole number (x)"],
  ['[{"priority":40000}]', "[{},{}]", "tasks[0].priority: expected -32768..32767 (40000)"],
  ['[{"trace":"x"}]', "[{},{}]", "tasks[0].trace: expected a W3C traceparent (x)"],
  ['[{"run_at":1}]', "[{},{}]", "tasks[0]: expected no members but payload, kind"],
];

const taken: readonly [tasks: string, given: string, of: Record<string, unknown>[]][] = [
  ["[{}]", ' [ {"a" : 1}, [] ] ', [{ payload: '{"a" : 1}' }, { payload: "[]" }]],
  ['[{"payload":null,"priority":5}]', "[{}]", [{ payload: "{}", priority: 5 }]],
  [String.raw`[{"\u006bind":"it's"}]`, "[[]]", [{ kind: "it's" }]],
  ['[ {"runInMs" : 3600000} ]', "[[],[]]", [{ state: "scheduled" }, { state: "scheduled" }]],
];

function describeSql(setup: StoreSetup): void {
  const open = useStore(setup);
  const idsIn = async (opened: TestStore, call: { postgres: string; mssql: string }) => {
    const [row] = await opened.call(
      setup.dialect === "mssql"
        ? `COMMIT TRANSACTION; EXEC Taskgate.${call.mssql}; BEGIN TRANSACTION;`
        : `select task_ids as "TaskIds" from taskgate.${call.postgres}`,
    );
    return JSON.parse(String(row?.["TaskIds"])) as TaskId[];
  };

  testWith(setup, "raw sql")(
    "payloads beside one entry are refused by name, and nothing is added",
    async () => {
      const opened = open();
      await define(opened.store, {}, "demo");
      for (const [tasks, given, says] of refused) {
        const told = await refusalOf(opened, setup, callOf(tasks, given));
        expect([tasks, given.slice(0, 40), told.slice(0, says.length)]).toEqual([
          tasks,
          given.slice(0, 40),
          says,
        ]);
      }
      expect(await statusOf(opened.store, "demo")).toMatchObject({ ready: 0, scheduled: 0 });
    },
  );

  testWith(setup, "raw sql")(
    "payloads beside one entry are counted together with the entry, by their bytes",
    async () => {
      const opened = open();
      await define(opened.store, {}, "demo");
      const more = `[{"a":"${"x".repeat(5_000_000)}"}]`;
      const told = await refusalOf(
        opened,
        setup,
        callOf(`[{"kind":"${"y".repeat(5_000_000)}"}]`, more),
      );
      expect(told).toContain("tasks: expected at most 8388608 bytes (10000023)");
    },
  );

  testWith(setup, "raw sql")(
    "payloads beside one entry are told bad before the definition is told unknown",
    async () => {
      const opened = open();
      const told = (given: string) => refusalOf(opened, setup, callOf("[{}]", given));
      expect(await told("[{}")).toContain("payloads: expected a JSON array");
      expect(await told("[]")).toContain("tasks: expected 1..10000 entries (0)");
      expect(await told("[{}]")).toContain("name: unknown definition");
    },
  );

  testWith(setup, "raw sql")(
    "payloads beside one entry are a task each, with what the entry says",
    async () => {
      const opened = open();
      await define(opened.store, {}, "demo");
      for (const [tasks, given, expected] of taken) {
        const ids = await idsIn(opened, callOf(tasks, given));
        const facts = await factsOfAll(opened.store, ids);
        expect(facts).toMatchObject(expected);
        expect(facts).toHaveLength(expected.length);
      }
    },
  );

  testWith(setup, "raw sql")(
    "payloads beside one entry have the keys that their kind takes from each of them",
    async () => {
      const opened = open();
      const { store } = opened;
      const kinds = [{ kind: "letter", groupBy: "to", dedupeBy: "id", priority: 9 }];
      await refusalOf(opened, setup, {
        postgres: `register_definition('demo', 1, 'h', 'me', 2, 60000, 5, 3, 1000, 300000, 1, 1, false, 1000, 1000, p_kinds => '${JSON.stringify(kinds)}')`,
        mssql: `RegisterDefinition 'demo', 1, 'h', 'me', 2, 60000, 5, 3, 1000, 300000, 1, 1, 0, 1000, 1000, @Kinds = N'${JSON.stringify(kinds)}'`,
      });
      const call = callOf(
        '[{"kind":"letter"}]',
        '[{"to":"a","id":1},{"to":"b","id":2},{"to":"b","id":2}]',
      );
      const ids = await idsIn(opened, call);
      expect(new Set(ids).size).toBe(2);
      const letter = { kind: "letter", priority: 9 };
      expect(await factsOf(store, at(ids, 0))).toMatchObject({ ...letter, dedupeKey: "1" });
      expect(await factsOf(store, at(ids, 1))).toMatchObject({ ...letter, dedupeKey: "2" });
      const told = await refusalOf(
        opened,
        setup,
        callOf('[{"kind":"letter"}]', '[{"to":"a","id":3},{"to":{}}]'),
      );
      expect(told).toContain("tasks[1].payload.to: expected a key");
    },
  );
}
