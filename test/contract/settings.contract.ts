import { describe, expect, test } from "@jest/globals";
import type { DefinitionSettings, TaskStore } from "../../shared/ports/task-store";
import {
  at,
  define,
  enqueueOne,
  factsOf,
  operationId,
  registration,
  setLimit,
  startInput,
  startWorker,
  statusOf,
  uniqueName,
} from "../support/builders";
import { expectError } from "../support/expect-error";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";

/** What of a definition is kept, whose name is whose, and what a change of its limit does to tokens. */
export function describeSettings(setup: StoreSetup): void {
  describe("a definition's settings", () => {
    describeKept(setup);
  });
  describe("a definition's name", () => {
    describeNames(setup);
  });
  describe("a limit in place of none", () => {
    describeTakingOver(setup);
  });
}

const first: Omit<DefinitionSettings, "rate"> = {
  limit: 11,
  leaseMs: 12_000,
  retryAttempts: 13,
  lostMax: 14,
  retryBaseMs: 15_000,
  retryCapMs: 16_000,
  prefetchMax: 17,
  groupSlots: 18,
  groupStrict: true,
  retainDoneMs: 19_000,
  retainDeadMs: 20_000,
  keepPayload: true,
};

const second: Omit<DefinitionSettings, "rate"> = {
  limit: 21,
  leaseMs: 22_000,
  retryAttempts: 23,
  lostMax: 24,
  retryBaseMs: 25_000,
  retryCapMs: 26_000,
  prefetchMax: 27,
  groupSlots: 28,
  groupStrict: false,
  retainDoneMs: 29_000,
  retainDeadMs: 30_000,
  keepPayload: false,
};

/** The audit's name of a setting. */
function auditName(setting: string): string {
  return setting.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function describeKept(setup: StoreSetup): void {
  const open = useStore(setup);

  testWith(setup, "audit")(
    "each setting of a definition is kept, and changed by a later registration",
    async () => {
      const opened = open();
      const { store } = opened;
      const input = registration({ settings: second });
      const { name } = input;
      await store.registerDefinition(input);
      for (const [build, settings] of [
        [2, first],
        [3, second],
      ] as const) {
        const answer = await store.registerDefinition({ ...input, build, settings });
        expect(answer.status).toBe("updated");
        const { limit, leaseMs, retryAttempts, lostMax, prefetchMax } = settings;
        const kept = { limit, leaseMs, retryAttempts, lostMax, prefetchMax, build };
        expect(await statusOf(store, name)).toMatchObject(kept);
      }
      // What the third found is what the second wrote, nothing of it the table's default.
      const changes = Object.keys(first).map((key) => {
        const [was, is] = [first, second].map((list) =>
          String(list[key as Exclude<keyof typeof list, "sharedLimits">]),
        );
        return `${auditName(key)}: ${String(was)} -> ${String(is)}`;
      });
      const entries = (await opened.readAudit(name)).slice(-changes.length - 1);
      expect(
        entries
          .map(({ setting, oldValue, newValue }) => {
            return `${setting}: ${String(oldValue)} -> ${String(newValue)}`;
          })
          .sort(),
      ).toEqual([...changes, "build: 2 -> 3"].sort());
    },
  );

  testWith(setup, "audit")("an operator's change is told once, a repeat not at all", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const input = { name, changedBy: "me" };
    await store.resumeDefinition(input);
    await store.pauseDefinition(input);
    await store.pauseDefinition(input);
    await store.resumeDefinition(input);
    await store.resumeDefinition(input);
    const entries = await opened.readAudit(name);
    expect(entries.map(({ setting, newValue }) => `${setting} ${String(newValue)}`)).toEqual([
      "limit 4",
      "paused true",
      "paused false",
    ]);
  });

  test("the first registration writes them all, too", async () => {
    const opened = open();
    const { store } = opened;
    const input = registration({ settings: { ...first, retryBaseMs: 0, retryCapMs: 0 } });
    await store.registerDefinition({ ...input, build: 0 });
    expect(await statusOf(store, input.name)).toMatchObject({ build: 0, leaseMs: 12_000 });
    const id = await enqueueOne(store, input.name, { group: "g" });
    const { group } = await factsOf(store, id);
    expect(group).toMatchObject({ slots: 18, strict: true });
    const worker = await startWorker(store, input.name, { build: 0 });
    const [task] = await worker.claim(1);
    if (task === undefined) throw new Error("A task expected");
    // A back-off of at most 0.
    await worker.fail([task]);
    const facts = await factsOf(store, id);
    expect(facts).toMatchObject({ state: "scheduled", retryAttempts: 13, lostMax: 14 });
    expect(facts.dueInMs).toBeLessThanOrEqual(0);
  });
}

/** Each operation that is told a name. */
const namedCalls: Record<string, (store: TaskStore, name: string) => Promise<unknown>> = {
  set_limit: (store, name) => setLimit(store, name, 1),
  pause_definition: (store, name) => store.pauseDefinition({ name, changedBy: "me" }),
  resume_definition: (store, name) => store.resumeDefinition({ name, changedBy: "me" }),
  list_tasks: (store, name) => store.listTasks({ name, state: "ready", max: 1 }),
  promote_scheduled: (store, name) => store.promoteScheduled({ name, max: 1 }),
  enqueue_tasks: (store, name) => enqueueOne(store, name),
  redrive_tasks: (store, name) => store.redriveTasks({ name, outcome: "dead", max: 1 }),
  set_group: (store, name) =>
    store.setGroup({ name, groupKey: "g", groupScope: "definition", changedBy: "me" }),
  list_groups: (store, name) => store.listGroups({ name, max: 1 }),
};

function describeNames(setup: StoreSetup): void {
  const open = useStore(setup);
  const longest = "n".repeat(200);
  const other = "N".repeat(200);

  for (const [operation, call] of Object.entries(namedCalls)) {
    test(`${operation} knows a definition's name of 200 characters, and none in other letters`, async () => {
      const { store } = open();
      await define(store, {}, longest);
      await expectError(call(store, other), {
        code: "TASKGATE_ARG_UNKNOWN",
        field: "name",
        value: other,
      });
      await call(store, longest);
    });
  }

  test("the lists and starts know a definition's name of 200 characters, and none in other letters", async () => {
    const { store } = open();
    await define(store, {}, longest);
    await startWorker(store, longest);
    expect((await store.listDefinitions({ name: other })).definitions).toEqual([]);
    expect((await store.listDefinitions({ name: longest })).definitions).toHaveLength(1);
    for (const isOpen of [true, false]) {
      const list = async (name: string) =>
        (await store.listExecutions({ name, isOpen, max: 10 })).executions;
      expect(await list(other)).toEqual([]);
      expect(await list(longest)).toHaveLength(1);
    }
    expect((await store.startExecution(startInput(other))).status).toBe("unknown");
  });
}

function describeTakingOver(setup: StoreSetup): void {
  const open = useStore(setup);

  testWith(setup, "token text")(
    "a definition's live runners get the tokens of its new limit, the oldest first; others', ended and dead ones get none (S0.6)",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: null, leaseMs: 10_000 });
      const neighbour = await define(store, { limit: null });
      await startWorker(store, neighbour, { want: 2 });
      await startWorker(store, name, { want: 4 });
      await opened.advance(10_001);
      await store.reclaimExpired({ max: 10 });
      const one = await startWorker(store, name, { want: 2 });
      const ended = await startWorker(store, name, { want: 3 });
      const two = await startWorker(store, name, { want: 1 });
      await ended.finish();
      expect(await setLimit(store, name, 5)).toMatchObject({
        oldLimit: null,
        newLimit: 5,
        held: 3,
        overLimit: 0,
      });
      const grantees = (await opened.readTokens(name)).match(/S:[01],G:\d+/g);
      expect(grantees).toEqual([
        `S:0,G:${one.number}`,
        `S:0,G:${one.number}`,
        `S:0,G:${two.number}`,
        "S:1,G:0",
        "S:1,G:0",
      ]);
      expect(await opened.readTokens(neighbour)).toBe("");
      expect((await statusOf(store, neighbour)).held).toBe(2);
    },
  );

  test("an execution that was declared dead under a limit isn't counted after it (S0.6)", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 3, leaseMs: 10_000 });
    await startWorker(store, name, { want: 3 });
    await opened.advance(10_001);
    await startWorker(store, name, { want: 2 });
    expect(await setLimit(store, name, null)).toMatchObject({ held: 2, overLimit: 0 });
    expect(await setLimit(store, name, 1)).toMatchObject({ held: 2, overLimit: 1 });
    expect(await setLimit(store, name, 2)).toMatchObject({ held: 2, overLimit: 0 });
  });

  test("the heartbeat tells the tokens held above the limit, none at it, below it or without one", async () => {
    const { store } = open();
    const name = await define(store, { limit: 5 });
    const worker = await startWorker(store, name, { want: 3 });
    await startWorker(store, name);
    const told: (number | null)[] = [(await worker.beat()).overLimit];
    for (const limit of [4, 3, 1, 0, null, 2]) {
      await setLimit(store, name, limit);
      told.push((await worker.beat()).overLimit);
    }
    expect(told).toEqual([0, 0, 1, 3, 4, 0, 2]);
  });

  test("each operation id has its own answer", async () => {
    const { store } = open();
    const name = await define(store, { limit: 4 }, uniqueName());
    const ids = [operationId(), operationId()];
    const change = { name, changedBy: "me" };
    const answers = [
      await store.setLimit({ ...change, limit: 3, operationId: at(ids, 0) }),
      await store.setLimit({ ...change, limit: 2, operationId: at(ids, 1) }),
      await store.setLimit({ ...change, limit: 9, operationId: at(ids, 0) }),
    ];
    expect(answers.map(({ oldLimit, newLimit }) => [oldLimit, newLimit])).toEqual([
      [4, 3],
      [3, 2],
      [4, 3],
    ]);
    expect((await statusOf(store, name)).limit).toBe(2);
  });
}
