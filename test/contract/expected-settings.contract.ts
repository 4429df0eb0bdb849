import { describe, expect, test } from "@jest/globals";
import { define, operationId, statusOf, uniqueName } from "../support/builders";
import { useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";
import { schedule, setAll, theOne } from "./schedule-builders";

const operator = { changedBy: "ada" } as const;

/** A change that expects other settings than there are writes nothing, and tells what there is. */
export function describeExpectedSettings(setup: StoreSetup): void {
  describe("a change that expects settings", () => {
    const open = useStore(setup);

    test("set_limit changes the limit where the expected one is in force, and refuses where it isn't", async () => {
      const { store } = open();
      const name = await define(store, { limit: 3 });
      const set = { name, limit: 5, ...operator };
      const first = { ...set, operationId: operationId(), expectedLimit: 4 };
      const conflict = { status: "conflict", oldLimit: 3, newLimit: 3, held: 0, overLimit: 0 };
      expect(await store.setLimit(first)).toEqual({ ...conflict, ready: false });
      expect(await statusOf(store, name)).toMatchObject({ limit: 3, limitSource: "code" });
      expect((await store.listAudit({ action: "set_limit", max: 10 })).entries).toEqual([]);
      // The same operation id reads the limit again.
      const other = { ...set, limit: 4, operationId: operationId(), expectedLimit: 3 };
      expect(await store.setLimit(other)).toMatchObject({ status: "set", oldLimit: 3 });
      expect(await store.setLimit(first)).toMatchObject({
        status: "set",
        oldLimit: 4,
        newLimit: 5,
      });
      // A repeat answers what the first call did, whatever is in force now.
      expect(await store.setLimit(other)).toMatchObject({
        status: "set",
        oldLimit: 3,
        newLimit: 4,
      });
      const none = { ...set, limit: null, operationId: operationId(), expectedLimit: null };
      expect(await store.setLimit(none)).toMatchObject({ status: "conflict", oldLimit: 5 });
      expect(await store.setLimit({ ...none, expectedLimit: 5 })).toMatchObject({ newLimit: null });
      const again = { ...set, operationId: operationId(), expectedLimit: null };
      expect(await store.setLimit(again)).toMatchObject({ status: "set", oldLimit: null });
    });

    test("set_rate changes the rate where the expected one is in force, and refuses where it isn't", async () => {
      const { store } = open();
      const name = await define(store);
      const rate = { count: 5, periodMs: 1_000, burst: 2 };
      const set = { name, rate, ...operator };
      const conflict = { status: "conflict", oldRate: null, newRate: null, ready: false };
      expect(await store.setRate({ ...set, expectedRate: rate })).toEqual(conflict);
      expect(await store.setRate({ ...set, expectedRate: null })).toMatchObject({ status: "set" });
      const off = { ...set, rate: null };
      const slower = { ...rate, burst: 1 };
      expect(await store.setRate({ ...off, expectedRate: slower })).toMatchObject({
        status: "conflict",
        oldRate: rate,
        newRate: rate,
      });
      expect((await statusOf(store, name)).rate).toEqual(rate);
      expect(await store.setRate({ ...off, expectedRate: rate })).toMatchObject({ status: "set" });
      // An operator's none is none, too.
      expect(await store.setRate({ ...set, expectedRate: null })).toMatchObject({ status: "set" });
    });

    test("pauses and resumes a definition that is as expected, and leaves a stop's note otherwise", async () => {
      const { store } = open();
      const name = await define(store);
      const change = { name, ...operator };
      expect(await store.pauseDefinition({ ...change, expectedPaused: true })).toEqual({
        status: "conflict",
        ready: false,
      });
      expect((await statusOf(store, name)).paused).toBe(false);
      const paused = await store.pauseDefinition({
        ...change,
        isStop: true,
        expectedPaused: false,
      });
      expect(paused.status).toBe("paused");
      for (const call of [
        () => store.pauseDefinition({ ...change, expectedPaused: false }),
        () => store.resumeDefinition({ ...change, expectedPaused: false }),
      ])
        expect((await call()).status).toBe("conflict");
      expect((await store.listStopped({ max: 10 })).definitions).toHaveLength(1);
      expect((await statusOf(store, name)).paused).toBe(true);
      const again = await store.pauseDefinition({ ...change, expectedPaused: true });
      expect(again.status).toBe("exists");
      const resumed = await store.resumeDefinition({ ...change, expectedPaused: true });
      expect(resumed.status).toBe("resumed");
    });

    test("pauses and resumes a schedule that is as expected, and leaves a stop's note otherwise", async () => {
      const { store } = open();
      const name = await define(store);
      await setAll(store, name, [schedule({ name: "nightly" })]);
      const change = { name, schedule: "nightly", nextRunAt: null, ...operator };
      const pause = { ...change, paused: true, isStop: true };
      const conflict = { status: "conflict", nextDueMs: null };
      expect(await store.setSchedulePaused({ ...pause, expectedPaused: true })).toEqual(conflict);
      expect((await theOne(store, name)).paused).toBe(false);
      const paused = await store.setSchedulePaused({ ...pause, expectedPaused: false });
      expect(paused.status).toBe("paused");
      const resume = { ...change, paused: false };
      expect(await store.setSchedulePaused({ ...resume, expectedPaused: false })).toEqual(conflict);
      expect((await store.listStopped({ max: 10 })).schedules).toHaveLength(1);
      const resumed = await store.setSchedulePaused({ ...resume, expectedPaused: true });
      expect(resumed.status).toBe("resumed");
    });

    test("set_definition_owner hands over a definition of the expected app, and refuses where another has it", async () => {
      const { store } = open();
      const [one, two] = [uniqueName("app"), uniqueName("app")];
      const name = await define(store);
      const set = { name, app: one, ...operator };
      const conflict = { status: "conflict", oldApp: null, newApp: null };
      expect(await store.setDefinitionOwner({ ...set, expectedApp: two })).toEqual(conflict);
      expect(await store.setDefinitionOwner({ ...set, expectedApp: null })).toMatchObject({
        status: "set",
      });
      for (const expectedApp of [null, two])
        expect(await store.setDefinitionOwner({ ...set, app: two, expectedApp })).toEqual({
          status: "conflict",
          oldApp: one,
          newApp: one,
        });
      const release = { ...set, app: null };
      expect(await store.setDefinitionOwner({ ...release, expectedApp: two })).toMatchObject({
        status: "conflict",
      });
      const changes = { object: name, action: "set_definition_owner", max: 10 } as const;
      expect((await store.listAudit(changes)).entries).toHaveLength(1);
      expect(await store.setDefinitionOwner({ ...set, expectedApp: one })).toMatchObject({
        status: "exists",
      });
      expect(await store.setDefinitionOwner({ ...release, expectedApp: one })).toEqual({
        status: "set",
        oldApp: one,
        newApp: null,
      });
    });

    test("set_shared_limit changes a limit where the expected one is in force, and makes none where it expects one", async () => {
      const { store } = open();
      const set = { name: "partner", limit: 5, ...operator };
      const missing = { ...set, operationId: operationId(), expectedLimit: 3 };
      expect(await store.setSharedLimit(missing)).toMatchObject({
        status: "conflict",
        oldLimit: undefined,
      });
      // One that was made for the call would have 1.
      for (const expectedLimit of [1, null]) {
        const call = { ...set, operationId: operationId(), expectedLimit };
        expect((await store.setSharedLimit(call)).status).toBe("conflict");
      }
      expect((await store.listSharedLimits({ max: 10 })).sharedLimits).toEqual([]);
      await store.setSharedLimit({ ...set, operationId: operationId() });
      expect(await store.setSharedLimit(missing)).toMatchObject({
        status: "conflict",
        oldLimit: 5,
      });
      const met = { ...set, limit: 7, operationId: operationId(), expectedLimit: 5 };
      expect(await store.setSharedLimit(met)).toMatchObject({ status: "set", newLimit: 7 });
    });

    test("set_group changes a group that is as expected, and makes none where it expects one", async () => {
      const { store } = open();
      const name = await define(store, { groupSlots: 2 });
      const set = {
        name,
        groupKey: "eu",
        groupScope: "definition",
        slots: 5,
        ...operator,
      } as const;
      const expected = { slots: 2, paused: false, strict: false };
      expect(await store.setGroup({ ...set, expected })).toEqual({
        ...{ status: "conflict", old: null, new: expected },
        ...{ used: 0, waiting: 0, woken: [] },
      });
      expect((await store.listGroups({ max: 10 })).groups).toEqual([]);
      await store.setGroup({ ...set, slots: 2 });
      for (const other of [{ slots: 3 }, { paused: true }, { strict: true }]) {
        const refused = await store.setGroup({ ...set, expected: { ...expected, ...other } });
        expect(refused).toMatchObject({ status: "conflict", old: expected, new: expected });
      }
      expect(await store.setGroup({ ...set, expected })).toMatchObject({
        status: "set",
        new: { slots: 5 },
      });
    });

    test("a change that expects settings is made once where several callers have seen the same limit", async () => {
      const { store } = open();
      const name = await define(store, { limit: 1 });
      const answers = await Promise.all(
        [2, 3, 4, 5].map((limit) =>
          store.setLimit({
            ...{ name, limit, ...operator },
            ...{ operationId: operationId(), expectedLimit: 1 },
          }),
        ),
      );
      expect(answers.filter(({ status }) => status === "set")).toHaveLength(1);
      const [made] = answers.filter(({ status }) => status === "set");
      expect((await statusOf(store, name)).limit).toBe(made?.newLimit);
    });
  });
}
