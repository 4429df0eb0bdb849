import { describe, expect, test } from "@jest/globals";
import type { SetGroupAnswer, SetGroupInput, TaskStore } from "../../shared/ports/task-store";
import {
  at,
  define,
  enqueue,
  enqueueOne,
  idsOf,
  startWorker,
  stateOf,
  statusOf,
} from "../support/builders";
import { expectError } from "../support/expect-error";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";
import { inDialect } from "./two-dialects";

/** An operator's settings of a group, and what people see of groups. */
export function describeGroupSettings(setup: StoreSetup): void {
  describe("set_group", () => {
    describeSettings(setup);
  });
  describe("set_group's input", () => {
    describeInput(setup);
  });
  describe("list_groups", () => {
    describeList(setup);
  });
  describe("groups of nearly the same keys", () => {
    describeKeys(setup);
  });
  describe("groups in which many wait", () => {
    describeMany(setup);
  });
}

function setGroup(
  store: TaskStore,
  name: string,
  changes: Partial<SetGroupInput> = {},
): Promise<SetGroupAnswer> {
  const input = { groupKey: "g", groupScope: "definition", changedBy: "an operator" } as const;
  return store.setGroup({ ...input, name, ...changes });
}

function grouped(count: number, group = "g"): { group: string }[] {
  return Array.from({ length: count }, () => ({ group }));
}

function describeSettings(setup: StoreSetup): void {
  const open = useStore(setup);

  test("more slots let those who wait come in at once, in order", async () => {
    const { store } = open();
    const name = await define(store, { limit: 10 });
    const ids = await enqueue(store, name, grouped(5));
    expect(await setGroup(store, name, { slots: 3 })).toEqual({
      status: "set",
      old: { slots: 1, paused: false, strict: false },
      new: { slots: 3, paused: false, strict: false },
      used: 3,
      waiting: 2,
      woken: [name],
    });
    const worker = await startWorker(store, name, { want: 5 });
    expect(idsOf(await worker.claim(5))).toEqual(ids.slice(0, 3));
  });

  test("fewer slots stop no task; nothing is handed over until fewer are used", async () => {
    const { store } = open();
    const name = await define(store, { limit: 10, groupSlots: 3 });
    const ids = await enqueue(store, name, grouped(5));
    const worker = await startWorker(store, name, { want: 5 });
    const claimed = await worker.claim(5);
    expect(await setGroup(store, name, { slots: 1 })).toMatchObject({
      status: "set",
      old: { slots: 3 },
      new: { slots: 1 },
      used: 3,
      waiting: 2,
      woken: [],
    });
    expect((await worker.complete(claimed.slice(0, 2), 5)).claimed).toEqual([]);
    const next = await worker.complete(claimed.slice(2), 5);
    expect(idsOf(next.claimed)).toEqual([at(ids, 3)]);
  });

  test("a paused group lets no task in and running ones go on; resumed, waiting tasks come in", async () => {
    const { store } = open();
    const name = await define(store, { limit: 10 });
    const ids = await enqueue(store, name, grouped(2));
    const worker = await startWorker(store, name, { want: 5 });
    const claimed = await worker.claim(5);
    await setGroup(store, name, { paused: true });
    expect((await worker.complete(claimed, 5)).claimed).toEqual([]);
    await enqueue(store, name, grouped(1));
    expect(await statusOf(store, name)).toMatchObject({ ready: 0, waiting: 2 });
    expect(await setGroup(store, name, { paused: false })).toMatchObject({
      old: { paused: true },
      new: { paused: false },
      used: 1,
      waiting: 1,
      woken: [name],
    });
    expect(idsOf(await worker.claim(5))).toEqual([at(ids, 1)]);
  });

  test("a group is made before its first task; what isn't said is as the definition has it", async () => {
    const { store } = open();
    const name = await define(store, { limit: 10, groupSlots: 2, groupStrict: true });
    expect(await setGroup(store, name, { paused: true })).toEqual({
      status: "created",
      old: null,
      new: { slots: 2, paused: true, strict: true },
      used: 0,
      waiting: 0,
      woken: [],
    });
    const id = await enqueueOne(store, name, { group: "g" });
    expect(await stateOf(store, id)).toBe("waiting");
  });

  test("a repeat changes nothing; so does a call that sets nothing", async () => {
    const { store } = open();
    const name = await define(store);
    await setGroup(store, name, { slots: 3, strict: true });
    const same = { slots: 3, paused: false, strict: true };
    for (const changes of [{ slots: 3, strict: true }, {}]) {
      const answer = await setGroup(store, name, changes);
      expect(answer).toMatchObject({ status: "exists", old: same, new: same });
    }
  });

  test("a group that is strict from now on keeps the slot of a failed task", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueue(store, name, grouped(2));
    await setGroup(store, name, { strict: true });
    const worker = await startWorker(store, name);
    await worker.fail([await worker.claimOne()], { retryInMs: 60_000 });
    expect(await worker.claim(1)).toEqual([]);
    expect(await setGroup(store, name, { strict: false })).toMatchObject({ used: 1, woken: [] });
  });

  test("a global group wakes the definitions of all who come in", async () => {
    const { store } = open();
    const one = await define(store);
    const two = await define(store);
    const shared = { group: "g", groupScope: "global" } as const;
    for (const name of [one, two, two]) await enqueueOne(store, name, shared);
    const answer = await setGroup(store, one, { groupScope: "global", slots: 5 });
    expect(answer).toMatchObject({ used: 3, waiting: 0, woken: [two] });
    await setGroup(store, one, { slots: 7 });
    const { groups } = await store.listGroups({ groupKey: "g", max: 10 });
    expect(groups.map(({ definition, slots }) => [definition, slots])).toEqual([
      [null, 5],
      [one, 7],
    ]);
  });

  testWith(setup, "audit")("each change is written down with who and why", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const before = (await opened.readAudit(name)).length;
    await setGroup(store, name, { slots: 2 });
    await setGroup(store, name, { slots: 4, paused: true, reason: "they asked" });
    await setGroup(store, name, { slots: 4 });
    const by = { source: "operator", changedBy: "an operator" };
    expect((await opened.readAudit(name)).slice(before)).toEqual([
      { setting: "own_group_slots", oldValue: null, newValue: "2 of g", ...by, reason: null },
      { setting: "own_group_paused", oldValue: null, newValue: "false of g", ...by, reason: null },
      { setting: "own_group_strict", oldValue: null, newValue: "false of g", ...by, reason: null },
      {
        setting: "own_group_slots",
        oldValue: "2 of g",
        newValue: "4 of g",
        ...by,
        reason: "they asked",
      },
      {
        setting: "own_group_paused",
        oldValue: "false of g",
        newValue: "true of g",
        ...by,
        reason: "they asked",
      },
    ]);
  });
}

function describeInput(setup: StoreSetup): void {
  const open = useStore(setup);

  test("an unknown definition and values out of range are refused", async () => {
    const { store } = open();
    const name = await define(store);
    await expectError(setGroup(store, "nobody"), { code: "TASKGATE_ARG_UNKNOWN", field: "name" });
    for (const slots of [0, 1_001]) {
      await expectError(setGroup(store, name, { slots }), {
        code: "TASKGATE_ARG_INVALID",
        field: "slots",
      });
    }
    for (const groupKey of ["", " g", "x".repeat(201)]) {
      await expectError(setGroup(store, name, { groupKey }), {
        code: "TASKGATE_ARG_INVALID",
        field: "group_key",
      });
    }
    await expectError(setGroup(store, name, { groupScope: "all" as "global" }), {
      code: "TASKGATE_ARG_INVALID",
      field: "group_scope",
    });
  });
}

function describeList(setup: StoreSetup): void {
  const open = useStore(setup);

  test("list_groups tells slots, the tasks that use them and those that wait: groups with waiters first, then by definition and key", async () => {
    const { store } = open();
    const one = await define(store, { groupSlots: 2 });
    const two = await define(store);
    await enqueue(store, one, [...grouped(3, "b"), ...grouped(1, "a")]);
    await enqueue(store, two, grouped(1, "B"));
    await setGroup(store, two, { groupKey: "c", paused: true, strict: true });
    const row = { slots: 1, used: 0, waiting: 0, paused: false, strict: false };
    const all = [
      { ...row, definition: one, key: "b", slots: 2, used: 2, waiting: 1 },
      { ...row, definition: one, key: "a", slots: 2, used: 1 },
      { ...row, definition: two, key: "B", used: 1 },
      { ...row, definition: two, key: "c", paused: true, strict: true },
    ];
    expect((await store.listGroups({ max: 10 })).groups).toEqual(all);
    expect((await store.listGroups({ max: 2 })).groups).toEqual(all.slice(0, 2));
    expect((await store.listGroups({ name: two, max: 10 })).groups).toEqual(all.slice(2));
    expect((await store.listGroups({ groupKey: "b", max: 10 })).groups).toEqual([at(all, 0)]);
    for (const max of [1, 2])
      expect((await store.listGroups({ name: one, max })).groups).toEqual(all.slice(0, max));
  });

  test("groups with waiters come before idle ones, for every filter and however short the list is", async () => {
    const { store } = open();
    const [one, two] = [await define(store), await define(store)];
    // Made in another order than that of the keys: one call makes its groups in that order.
    for (const name of [one, two])
      for (const group of ["d", "c", "b", "a"]) await enqueueOne(store, name, { group });
    await enqueue(store, two, [...grouped(1, "d"), ...grouped(2, "b")]);
    await enqueue(store, one, grouped(1, "c"));
    const found = async (input: { name?: string; groupKey?: string }, max = 10) =>
      (await store.listGroups({ ...input, max })).groups.map(
        ({ definition, key, waiting }) =>
          `${definition === one ? "one" : "two"} ${key} ${String(waiting)}`,
      );
    const waiting = ["one c 1", "two b 2", "two d 1"];
    const idle = ["one a 0", "one b 0", "one d 0", "two a 0", "two c 0"];
    const all = [...waiting, ...idle];
    for (let max = 1; max <= all.length + 1; max += 1)
      expect(await found({}, max)).toEqual(all.slice(0, max));
    const ofTwo = ["two b 2", "two d 1", "two a 0", "two c 0"];
    for (let max = 1; max <= ofTwo.length + 1; max += 1)
      expect(await found({ name: two }, max)).toEqual(ofTwo.slice(0, max));
    expect(await found({ groupKey: "b" })).toEqual(["two b 2", "one b 0"]);
    expect(await found({ groupKey: "b" }, 1)).toEqual(["two b 2"]);
    expect(await found({ name: one, groupKey: "c" })).toEqual(["one c 1"]);
    expect(await found({ name: two, groupKey: "c" })).toEqual(["two c 0"]);
  });

  test("a group of all definitions isn't a definition's own, also where its tasks wait in it", async () => {
    const { store } = open();
    const name = await define(store);
    const task = { group: "g", groupScope: "global" } as const;
    await enqueue(store, name, [task, task, { group: "own" }]);
    expect((await store.listGroups({ name, max: 10 })).groups.map(({ key }) => key)).toEqual([
      "own",
    ]);
    expect((await store.listGroups({ max: 10 })).groups.map(({ key }) => key)).toEqual([
      "g",
      "own",
    ]);
  });

  test("list_groups lists one group of a definition, by the whole of its key", async () => {
    const { store } = open();
    const [one, two] = [await define(store), await define(store)];
    const longest = "x".repeat(200);
    // The first has a task that waits, the others have none.
    await enqueue(store, one, [...grouped(2, "g"), ...grouped(1, "h"), ...grouped(1, longest)]);
    await enqueue(store, two, grouped(1, "g"));
    const keysOf = async (groupKey: string): Promise<(string | null)[][]> =>
      (await store.listGroups({ name: one, groupKey, max: 10 })).groups.map(
        ({ definition, key }) => [definition, key],
      );
    expect(await keysOf("g")).toEqual([[one, "g"]]);
    expect(await keysOf(longest)).toEqual([[one, longest]]);
    for (const other of ["G", "g ", "H", "h ", `${longest}x`])
      expect(await keysOf(other)).toEqual([]);
  });

  test("an unknown definition and a number out of range are refused", async () => {
    const { store } = open();
    await expectError(store.listGroups({ name: "nobody", max: 1 }), {
      code: "TASKGATE_ARG_UNKNOWN",
      field: "name",
    });
    for (const max of [0, 1_001]) {
      await expectError(store.listGroups({ max }), {
        code: "TASKGATE_ARG_INVALID",
        field: "max",
      });
    }
  });
}

const by = { changedBy: "an operator" } as const;

function setSlots(
  store: TaskStore,
  name: string,
  {
    key,
    scope = "definition",
    slots,
  }: { key: string; scope?: SetGroupInput["groupScope"]; slots: number },
) {
  return store.setGroup({ name, groupKey: key, groupScope: scope, slots, ...by });
}

function describeKeys(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a key is looked for in all definitions and among global ones, letter by letter", async () => {
    const { store } = open();
    const one = await define(store);
    const two = await define(store);
    await setSlots(store, two, { key: "k", slots: 2 });
    await setSlots(store, one, { key: "k", slots: 3 });
    await setSlots(store, one, { key: "k", scope: "global", slots: 4 });
    for (const key of ["K", "kk", "j", 'a "quoted" \\ key'])
      await setSlots(store, one, { key, slots: 9 });
    const found = async (groupKey: string, name?: string) => {
      const input = { groupKey, max: 10, ...(name === undefined ? {} : { name }) };
      return (await store.listGroups(input)).groups.map((row) => [row.definition, row.slots]);
    };
    expect(await found("k")).toEqual([
      [null, 4],
      [one, 3],
      [two, 2],
    ]);
    expect(await found("k", two)).toEqual([[two, 2]]);
    expect(await found("K", two)).toEqual([]);
    expect(await found('a "quoted" \\ key')).toEqual([[one, 9]]);
    // A key without its blank, or cut, would be another one.
    for (const key of ["k ", " k", "", `k${" ".repeat(300)}`]) expect(await found(key)).toEqual([]);
  });

  test("a setting of a group is set of no other one", async () => {
    const { store } = open();
    const one = await define(store, { limit: 10 });
    const two = await define(store, { limit: 10 });
    for (const name of [one, two]) {
      await enqueue(store, name, [{ group: "g" }, { group: "g" }, { group: "h" }]);
      await enqueue(store, name, [{ group: "g", groupScope: "global" }]);
    }
    expect(await setSlots(store, two, { key: "g", slots: 2 })).toMatchObject({
      status: "set",
      used: 2,
      waiting: 0,
      woken: [two],
    });
    const { groups } = await store.listGroups({ max: 10 });
    expect(groups.map(({ definition, key }) => [definition, key])).toEqual([
      [null, "g"],
      [one, "g"],
      [one, "h"],
      [two, "g"],
      [two, "h"],
    ]);
    const numbers = groups.map(({ slots, used, waiting }) => [slots, used, waiting].join());
    expect(numbers).toEqual(["1,1,1", "1,1,1", "1,1,0", "2,2,0", "1,1,0"]);
    for (let max = 1; max < groups.length; max += 1)
      expect((await store.listGroups({ max })).groups).toEqual(groups.slice(0, max));
  });

  test("set_group with several faults tells the first argument's", async () => {
    const { store } = open();
    let input: SetGroupInput = {
      name: "nobody",
      groupKey: "g",
      groupScope: "all" as "global",
      slots: 0,
      changedBy: "me",
    };
    const repaired = [
      [{}, "group_scope"],
      [{ groupScope: "global" }, "slots"],
    ] as const;
    for (const [repair, field] of repaired) {
      input = { ...input, ...repair };
      await expectError(store.setGroup(input), { code: "TASKGATE_ARG_INVALID", field });
    }
    const unknown = { code: "TASKGATE_ARG_UNKNOWN", field: "name" } as const;
    await expectError(store.setGroup({ ...input, slots: 1 }), unknown);
  });

  testWith(setup, "audit")("a new group's audit says what the definition gave it", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { groupSlots: 3, groupStrict: true });
    const before = (await opened.readAudit(name)).length;
    await store.setGroup({ name, groupKey: "g", groupScope: "global", paused: true, ...by });
    const entries = (await opened.readAudit(name)).slice(before);
    expect(entries.map(({ setting, oldValue, newValue }) => [setting, oldValue, newValue])).toEqual(
      [
        ["global_group_slots", null, "3 of g"],
        ["global_group_paused", null, "true of g"],
        ["global_group_strict", null, "true of g"],
      ],
    );
    await store.setGroup({ name, groupKey: "g", groupScope: "global", strict: false, ...by });
    await store.setGroup({ name, groupKey: "g", groupScope: "global", paused: false, ...by });
    const later = (await opened.readAudit(name)).slice(before + 3);
    expect(later.map(({ setting, oldValue, newValue }) => [setting, oldValue, newValue])).toEqual([
      ["global_group_strict", "true of g", "false of g"],
      ["global_group_paused", "true of g", "false of g"],
    ]);
  });
}

function describeMany(setup: StoreSetup): void {
  const open = useStore(setup);

  testWith(setup, "raw sql")("set_group counts waiting tasks up to 1000", async () => {
    const opened = open();
    const { store } = opened;
    opened.expectDamage();
    const name = await define(store);
    await enqueue(store, name, [{ group: "g" }, { group: "g" }]);
    await plantWaiting(opened, setup);
    expect(await setSlots(store, name, { key: "g", slots: 1 })).toMatchObject({ waiting: 1_000 });
    const { groups } = await store.listGroups({ max: 1 });
    expect(at(groups, 0)).toMatchObject({ used: 1, waiting: 1_000 });
  });

  testWith(setup, "raw sql")(
    "a definition's groups with waiting tasks come first, however many wait in those of others",
    async () => {
      const opened = open();
      const { store } = opened;
      opened.expectDamage();
      const name = await define(store);
      await enqueue(store, name, [{ group: "a" }, { group: "z" }, { group: "z" }]);
      await plantWaiting(opened, setup, true);
      const { groups } = await store.listGroups({ name, max: 1 });
      expect(groups).toMatchObject([{ key: "z", waiting: 1 }]);
    },
  );
}

/** 1,000 entries more, of tasks that there aren't: of the same group, or each of an older group of another definition. */
async function plantWaiting(
  opened: TestStore,
  { dialect }: StoreSetup,
  isElsewhere = false,
): Promise<void> {
  if (dialect === "memory") return;
  const [group, definition] = isElsewhere ? ["-n", "-1"] : ["w.group_id", "w.task_definition_id"];
  const sql = `INSERT INTO taskgate.group_waiting (group_id, priority, rank, task_id, task_definition_id)
    SELECT ${group}, w.priority, w.rank, w.task_id + n, ${definition}
    FROM taskgate.group_waiting AS w CROSS JOIN {numbers}`;
  await opened.raw(inDialect(dialect, sql, new Map()));
}
