import { describe, expect, test } from "@jest/globals";
import type { SetGroupInput, TaskStore } from "../../shared/ports/task-store";
import { define, operationId, registration, setLimit, uniqueName } from "../support/builders";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";
import { dayMs, nothingPurged } from "./purge-scene";

/** The actor of a change is known for 400 days, that of a current setting for ever. */
export function describePurgeAudit(setup: StoreSetup): void {
  describe("purge of the audit of settings", () => {
    describeEntries(setup);
  });
  describe("purge of the audit of settings tells", () => {
    describeNames(setup);
  });
}

async function purgedEntries(store: TaskStore, max = 1_000): Promise<number> {
  return (await store.purge({ max })).auditEntries;
}

/** Sets slots of groups, so that there is an entry of each. */
async function setSlots(store: TaskStore, name: string, groups: Record<string, number>) {
  for (const [groupKey, slots] of Object.entries(groups))
    await setSlotsOf(store, { name, groupKey, groupScope: "definition", slots });
}

/** Sets a group's slots. */
function setSlotsOf(store: TaskStore, group: Omit<SetGroupInput, "changedBy">) {
  return store.setGroup({ ...group, changedBy: "operator" });
}

/** Sets watermarks of a definition one after the other. */
async function setWatermarks(store: TaskStore, name: string, values: [string, string | null][]) {
  for (const [watermark, value] of values) {
    const input = { name, watermark, value, operationId: operationId(), changedBy: "operator" };
    await store.setWatermark(input);
  }
}

function describeEntries(setup: StoreSetup): void {
  const open = useStore(setup);

  testWith(setup, "exact clock")(
    "an audit entry goes after 400 days, unless it is the last",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      await setLimit(store, name, 2);
      await setLimit(store, name, 3);
      await opened.advance(400 * dayMs);
      await store.purge({ max: 10 });
      expect(await purgedEntries(store)).toBe(0);
      await opened.advance(1);
      // The code's entry of the limit is one of another setting.
      expect(await store.purge({ max: 10 })).toEqual({
        ...nothingPurged,
        status: "purged",
        purged: 1,
        auditEntries: 1,
      });
      expect((await store.purge({ max: 10 })).status).toBe("none");
      await setLimit(store, name, 4);
      expect(await purgedEntries(store)).toBe(1);
    },
  );

  test("each definition, group and shared limit has a last one of its own", async () => {
    const opened = open();
    const { store } = opened;
    const names = [
      await define(store, { sharedLimits: [{ name: "x", limit: 3 }] }),
      await define(store, { sharedLimits: [{ name: "X", limit: 3 }] }),
    ];
    for (const name of names) {
      await setLimit(store, name, 2);
      await store.pauseDefinition({ name, changedBy: "operator" });
      await setSlots(store, name, { g: 2, G: 2, "g of g": 2 });
    }
    for (const limit of ["x", "X"])
      await store.setSharedLimit({
        name: limit,
        limit: 2,
        operationId: operationId(),
        changedBy: "operator",
      });
    await opened.advance(500 * dayMs);
    expect(await purgedEntries(store)).toBe(0);
    await setSlots(store, String(names[0]), { G: 3 });
    expect(await purgedEntries(store)).toBe(1);
    await store.resumeDefinition({ name: String(names[1]), changedBy: "operator" });
    expect(await purgedEntries(store)).toBe(1);
    await store.setSharedLimit({
      name: "X",
      limit: "code",
      operationId: operationId(),
      changedBy: "operator",
    });
    expect(await purgedEntries(store)).toBe(1);
    await setSlots(store, String(names[0]), { "g of g": 4 });
    expect(await purgedEntries(store)).toBe(1);
    expect(await purgedEntries(store)).toBe(0);
  });

  test("a purge of the audit removes the oldest first, and tells of more while they fill a share", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    for (const limit of [1, 2, 3, 4]) await setLimit(store, name, limit);
    await opened.advance(500 * dayMs);
    expect(await store.purge({ max: 2 })).toMatchObject({ auditEntries: 2, more: true });
    expect(await store.purge({ max: 5 })).toMatchObject({ auditEntries: 1, more: false });
  });

  test("an overfull group is still known to be an operator's, however long ago", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { groupSlots: 3 });
    const tasks = [
      { payload: null, group: "g" },
      { payload: null, group: "g" },
    ];
    await store.enqueueTasks({ name, build: 1, operationId: null, tasks });
    await setSlots(store, name, { g: 2 });
    await setSlots(store, name, { g: 1 });
    await setSlots(store, name, { h: 2 });
    await opened.advance(500 * dayMs);
    expect(await purgedEntries(store)).toBe(1);
    expect((await store.checkInvariants()).findings).toEqual([]);
  });
}

/** An entry's value tells its owner, with any words in values and names. */
function describeNames(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a global group from a definition's own one of the same key", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { groupSlots: 2 });
    for (const groupScope of ["definition", "global"] as const) {
      const task = { payload: null, group: "g", groupScope };
      await store.enqueueTasks({ name, build: 1, operationId: null, tasks: [task, task] });
    }
    const global = { name, groupKey: "g", groupScope: "global" } as const;
    await setSlotsOf(store, { ...global, slots: 1 });
    await setSlots(store, name, { g: 1 });
    await opened.advance(500 * dayMs);
    expect(await purgedEntries(store)).toBe(0);
    expect((await store.checkInvariants()).findings).toEqual([]);
    await setSlotsOf(store, { ...global, slots: 3 });
    expect(await purgedEntries(store)).toBe(1);
    await setSlots(store, name, { g: 4 });
    expect(await purgedEntries(store)).toBe(1);
  });

  test("a purge of the audit tells watermarks apart, with any words in their values", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    await setWatermarks(store, name, [
      ["a", '{"file":"1 of 2"}'],
      ["a", '{"file":"2 of 2"}'],
      ["a", '{"file":"3 OF 2"}'],
      ["a", '{"file":"4 of 2 of b"}'],
      // Cut behind a word that looks like the one that follows.
      ["a", `["${"x".repeat(185)} of"]`],
      ["b", '["of b"]'],
      ["b of b", '["b of b"]'],
      ["A", "[1]"],
    ]);
    await opened.advance(500 * dayMs);
    expect(await purgedEntries(store)).toBe(4);
    await setWatermarks(store, name, [["b", null]]);
    expect(await purgedEntries(store)).toBe(1);
    await setWatermarks(store, name, [["b of b", '["c of b"]']]);
    expect(await purgedEntries(store)).toBe(1);
    expect(await purgedEntries(store)).toBe(0);
  });

  test("a purge of the audit tells a definition's shared limits apart, with any names", async () => {
    const opened = open();
    const { store } = opened;
    const name = uniqueName();
    const limits = ["week of may", "week of june", "week of july"];
    for (const [at, limit] of limits.entries()) {
      const settings = { sharedLimits: [{ name: limit, limit: 1 }] };
      await store.registerDefinition(registration({ name, build: at + 1, settings }));
    }
    await opened.advance(500 * dayMs);
    // One of the limits and one of the builds.
    expect(await purgedEntries(store)).toBe(2);
  });
}
