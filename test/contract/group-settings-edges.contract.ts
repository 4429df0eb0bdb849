import { describe, expect, test } from "@jest/globals";
import type { SetGroupInput, TaskStore } from "../../shared/ports/task-store";
import { at, define, enqueue } from "../support/builders";
import { expectError } from "../support/expect-error";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";
import { inDialect } from "./two-dialects";

/** Which groups an operator sets and sees, where keys and names are nearly the same, and many wait. */
export function describeGroupSettingsEdges(setup: StoreSetup): void {
  describe("groups of nearly the same keys", () => {
    describeKeys(setup);
  });
  describe("groups in which many wait", () => {
    describeMany(setup);
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
      const input = { groupKey, most: 10, ...(name === undefined ? {} : { name }) };
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

  test("what is set of a group is set of no other one", async () => {
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
    const { groups } = await store.listGroups({ most: 10 });
    expect(groups.map(({ definition, key }) => [definition, key])).toEqual([
      [null, "g"],
      [one, "g"],
      [one, "h"],
      [two, "g"],
      [two, "h"],
    ]);
    const numbers = groups.map(({ slots, used, waiting }) => [slots, used, waiting].join());
    expect(numbers).toEqual(["1,1,1", "1,1,1", "1,1,0", "2,2,0", "1,1,0"]);
    for (let most = 1; most < groups.length; most += 1)
      expect((await store.listGroups({ most })).groups).toEqual(groups.slice(0, most));
  });

  test("of several faults the first argument's is told", async () => {
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
    await store.setGroup({ name, groupKey: "g", groupScope: "global", isStrict: false, ...by });
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

  testWith(setup, "raw sql")("those who wait are counted up to 1000", async () => {
    const opened = open();
    const { store } = opened;
    opened.expectDamage();
    const name = await define(store);
    await enqueue(store, name, [{ group: "g" }, { group: "g" }]);
    await plantWaiting(opened, setup);
    expect(await setSlots(store, name, { key: "g", slots: 1 })).toMatchObject({ waiting: 1_000 });
    const { groups } = await store.listGroups({ most: 1 });
    expect(at(groups, 0)).toMatchObject({ used: 1, waiting: 1_000 });
  });
}

/** 1,000 entries more, of tasks that there aren't. */
async function plantWaiting(opened: TestStore, { dialect }: StoreSetup): Promise<void> {
  if (dialect === "model") return;
  const sql = `INSERT INTO taskgate.group_waiting (group_id, priority, rank, task_id, task_definition_id)
    SELECT w.group_id, w.priority, w.rank, w.task_id + n, w.task_definition_id
    FROM taskgate.group_waiting AS w CROSS JOIN {numbers}`;
  await opened.raw(inDialect(dialect, sql, new Map()));
}
