import { describe, expect, test } from "@jest/globals";
import { parseTokens } from "../../shared/core/token";
import type { ExecutionNumber } from "../../shared/core/ids";
import type { Limit, SharedLimitUse, TaskStore } from "../../shared/ports/task-store";
import {
  define,
  operationId,
  only,
  registration,
  setLimit,
  startInput,
  startWorker,
  statusOf,
  tryStart,
  uniqueName,
} from "../support/builders";
import { expectError } from "../support/expect-error";
import { within } from "../support/gate";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";
import { openAsOwner } from "./open-transactions";
import { damagedText } from "./planted-token-faults";
import { inDialect } from "./two-dialects";

/** Shared limits at their edges: the least of several, holders that die or are busy, limits that come late. */
export function describeSharedLimitHolders(setup: StoreSetup): void {
  describe("several shared limits of one definition", () => {
    describeSeveral(setup);
  });
  describe("holders of a shared limit that die", () => {
    describeDead(setup);
  });
  describe("holders of a shared limit whose rows are locked", () => {
    describeLocked(setup);
  });
  describe("a shared limit that comes, changes or goes", () => {
    describeChanges(setup);
  });
  describe("the text of a shared limit's tokens", () => {
    describeText(setup);
  });
}

async function setShared(store: TaskStore, name: string, limit: Limit) {
  const change = { operationId: operationId(), changedBy: "an operator" };
  return store.setSharedLimit({ name, limit, ...change });
}

/** Held tokens of a shared limit, of all definitions. */
async function heldOf(store: TaskStore, name: string): Promise<number> {
  return only((await store.listSharedLimits({ name, max: 2 })).sharedLimits).held;
}

/** Two definitions with room of their own that share one limit. */
async function twoOn(store: TaskStore, limit: Limit) {
  const shared = uniqueName("shared");
  const settings = { limit: 10, leaseMs: 10_000, sharedLimits: [{ name: shared, limit }] };
  return { shared, a: await define(store, settings), b: await define(store, settings) };
}

function describeSeveral(setup: StoreSetup): void {
  const open = useStore(setup);

  /** A definition that draws from two, made in this order. */
  async function drawing(store: TaskStore, limits: readonly [number, number]) {
    const shared = [uniqueName("older"), uniqueName("younger")] as const;
    await setShared(store, shared[0], limits[0]);
    await setShared(store, shared[1], limits[1]);
    const sharedLimits = shared.map((name) => ({ name }));
    return { shared, name: await define(store, { limit: 10, sharedLimits }) };
  }

  const orders: readonly [number, number][] = [
    [3, 5],
    [5, 3],
  ];
  test.each(orders)("the lower one of shared limits of %d and %d decides", async (...limits) => {
    const { store } = open();
    const { name, shared } = await drawing(store, limits);
    expect((await startWorker(store, name, { want: 9 })).answer.tokens).toBe(3);
    expect([await heldOf(store, shared[0]), await heldOf(store, shared[1])]).toEqual([3, 3]);
  });

  const lowered: readonly [number, number][] = [
    [2, 3],
    [3, 2],
    [2, 9],
    [9, 2],
  ];
  test.each(lowered)(
    "the tokens above either of two shared limits, lowered to %d and %d, go back",
    async (...limits) => {
      const { store } = open();
      const { name, shared } = await drawing(store, [4, 4]);
      const { executionId } = await startWorker(store, name, { want: 4 });
      await setShared(store, shared[0], limits[0]);
      await setShared(store, shared[1], limits[1]);
      const release = { executionId, keep: 0 };
      expect(await store.releaseSurplus(release)).toMatchObject({ tokens: 2, freed: 2 });
      expect(await store.releaseSurplus(release)).toMatchObject({ tokens: 2, freed: 0 });
    },
  );
}

function describeDead(setup: StoreSetup): void {
  const open = useStore(setup);

  testWith(setup, "row removal")(
    "holders without a row count no more, and those that live do",
    async () => {
      const opened = open();
      const { store } = opened;
      const { shared, a, b } = await twoOn(store, 2);
      const gone = await startWorker(store, a);
      await startWorker(store, a);
      await opened.removeExecution(gone.executionId);
      const next = await startWorker(store, b, { want: 2 });
      expect(next.answer).toMatchObject({ tokens: 1, deadHolders: 1 });
      expect(await heldOf(store, shared)).toBe(2);
    },
  );

  testWith(setup, "exact clock")("holders live up to the very end of their leases", async () => {
    const opened = open();
    const { store } = opened;
    const { a, b } = await twoOn(store, 1);
    await startWorker(store, a);
    await opened.advance(10_000);
    const denied = { status: "limited", retryInMs: 1 };
    expect(await store.startExecution(startInput(b))).toMatchObject(denied);
    await opened.advance(1);
    expect(await tryStart(store, b)).toBe("started");
  });

  testWith(setup, "exact clock")(
    "dead holders leave as many tokens as they held, and no more",
    async () => {
      const opened = open();
      const { store } = opened;
      const { shared, a, b } = await twoOn(store, 3);
      const alive = await startWorker(store, b);
      const dead = await startWorker(store, a, { want: 2 });
      await store.releaseTokens({ executionId: dead.executionId, keep: 1 });
      await opened.advance(5_000);
      await alive.beat();
      await opened.advance(5_001);
      expect((await startWorker(store, b, { want: 5 })).answer.tokens).toBe(2);
      expect(await heldOf(store, shared)).toBe(3);
    },
  );

  testWith(setup, "exact clock")(
    "dead holders don't count when a limit takes the place of none",
    async () => {
      const opened = open();
      const { store } = opened;
      const { shared, a, b } = await twoOn(store, null);
      const alive = await startWorker(store, a, { want: 2 });
      await startWorker(store, b);
      await opened.advance(5_000);
      await alive.beat();
      await opened.advance(5_001);
      expect(await setShared(store, shared, 2)).toMatchObject({ held: 2, overLimit: 0 });
    },
  );
}

function describeLocked(setup: StoreSetup): void {
  const open = useStore(setup);
  const lockedTest = testWith(setup, "row locks", "exact clock", "raw sql");

  /** Asks while another transaction has locked an execution's row. */
  async function beside<Answer>(
    opened: TestStore,
    execution: ExecutionNumber,
    ask: () => Promise<Answer>,
  ): Promise<Answer> {
    const writing = await openAsOwner(opened, (transaction) => {
      const sql =
        "UPDATE taskgate.task_execution SET worker = worker WHERE task_execution_id = {id}";
      const dialect = transaction.dialect === "mssql" ? "mssql" : "postgres";
      return transaction.query(inDialect(dialect, sql, new Map([["id", execution]])));
    });
    try {
      return await within(1_500, ask());
    } finally {
      await writing.finish();
    }
  }

  lockedTest("locked holders keep what they hold, whatever their leases say", async () => {
    const opened = open();
    const { store } = opened;
    const sharedLimits = [{ name: uniqueName("shared"), limit: 1 }];
    const name = await define(store, { limit: 10, leaseMs: 10_000, sharedLimits });
    const late = await startWorker(store, name);
    await opened.advance(10_001);
    const start = () => tryStart(store, name);
    expect(await beside(opened, late.number, start)).toBe("limited");
    expect(await late.beat()).toMatchObject({ status: "renewed" });
  });

  lockedTest("locked holders keep nothing when they were reclaimed", async () => {
    const opened = open();
    const { store } = opened;
    const { a, b } = await twoOn(store, 2);
    const dead = await startWorker(store, a, { want: 2 });
    await opened.advance(10_001);
    expect(await store.reclaimExpired({ max: 5 })).toMatchObject({ executions: 1 });
    const start = () => startWorker(store, b, { want: 2 });
    expect((await beside(opened, dead.number, start)).answer.tokens).toBe(2);
  });

  lockedTest(
    "locked holders keep nothing when they are dead and their definition has left",
    async () => {
      const opened = open();
      const { store } = opened;
      const [shared, other] = [uniqueName("shared"), uniqueName("other")];
      const sharedLimits = [{ name: shared, limit: 2 }];
      const input = registration({ settings: { limit: 1, leaseMs: 10_000, sharedLimits } });
      await store.registerDefinition(input);
      const dead = await startWorker(store, input.name);
      await opened.advance(10_001);
      // There is room in the shared limit: only the definition's own tokens are looked through.
      await (await startWorker(store, input.name)).finish();
      const settings = { ...input.settings, sharedLimits: [{ name: other }] };
      await store.registerDefinition({ ...input, build: 2, settings });
      expect(await heldOf(store, shared)).toBe(1);
      const next = await define(store, { limit: 10, sharedLimits: [{ name: shared }] });
      const start = () => startWorker(store, next, { want: 2 });
      expect((await beside(opened, dead.number, start)).answer.tokens).toBe(2);
    },
  );
}

function describeChanges(setup: StoreSetup): void {
  const open = useStore(setup);

  /** Registers once more, with these shared limits. */
  async function change(
    store: TaskStore,
    input: ReturnType<typeof registration>,
    sharedLimits: readonly SharedLimitUse[],
  ): Promise<void> {
    const settings = { ...input.settings, sharedLimits };
    const answer = await store.registerDefinition({ ...input, build: 2, settings });
    expect(answer.status).toBe("updated");
  }

  test("a shared limit that comes counts each running execution with what it holds", async () => {
    const { store } = open();
    const shared = uniqueName("shared");
    const input = registration({ settings: { limit: 10 } });
    await store.registerDefinition(input);
    const many = await startWorker(store, input.name, { want: 3 });
    await startWorker(store, input.name, { want: 1 });
    await change(store, input, [{ name: shared, limit: 9 }]);
    expect(await heldOf(store, shared)).toBe(4);
    await many.finish();
    expect(await heldOf(store, shared)).toBe(1);
  });

  testWith(setup, "exact clock")(
    "a shared limit loses the running executions' tokens when its definition leaves; those of the dead stay until the next asker",
    async () => {
      const opened = open();
      const { store } = opened;
      const shared = uniqueName("shared");
      const sharedLimits = [{ name: shared, limit: 9 }];
      const input = registration({ settings: { limit: 3, leaseMs: 10_000, sharedLimits } });
      const { name } = input;
      await store.registerDefinition(input);
      await startWorker(store, name);
      const alive = await startWorker(store, name);
      await startWorker(store, name);
      await opened.advance(5_000);
      await alive.beat();
      await opened.advance(5_001);
      expect((await startWorker(store, name, { want: 2 })).answer.deadHolders).toBe(2);
      expect(await heldOf(store, shared)).toBe(5);
      await change(store, input, []);
      expect(await heldOf(store, shared)).toBe(2);
    },
  );

  testWith(setup, "exact clock")(
    "a shared limit has enough again when a definition leaves: no execution is declared dead for its sake",
    async () => {
      const opened = open();
      const { store } = opened;
      const { shared, a } = await twoOn(store, 4);
      const sharedLimits = [{ name: shared }];
      const input = registration({ settings: { limit: 9, leaseMs: 20_000, sharedLimits } });
      await store.registerDefinition(input);
      await startWorker(store, input.name, { want: 2 });
      await startWorker(store, a, { want: 2 });
      await setShared(store, shared, 3);
      await opened.advance(10_001);
      await change(store, input, []);
      expect(await heldOf(store, shared)).toBe(2);
    },
  );

  test("a shared limit without a number is said to be held by those that draw from it, and by no other", async () => {
    const { store } = open();
    const { a, b } = await twoOn(store, null);
    await startWorker(store, a, { want: 2 });
    await startWorker(store, b, { want: 3 });
    await startWorker(store, await define(store), { want: 4 });
    expect((await statusOf(store, a)).sharedLimits).toMatchObject([{ limit: null, held: 5 }]);
  });

  test("a shared limit isn't set under the id of another operation", async () => {
    const { store } = open();
    const [name, id] = [await define(store), operationId()];
    const change = { operationId: id, changedBy: "me", limit: 3 };
    await store.setLimit({ name, ...change });
    const { shared } = await twoOn(store, 7);
    await expectError(store.setSharedLimit({ name: shared, ...change }), {
      code: "TASKGATE_ARG_CONFLICT",
      field: "operation_id",
      value: id,
    });
    expect(await setShared(store, shared, 8)).toMatchObject({ oldLimit: 7 });
    await setLimit(store, name, 1);
  });
}

function describeText(setup: StoreSetup): void {
  const open = useStore(setup);
  const textTest = testWith(setup, "exact clock", "raw sql");

  function sqlOf(statement: string, name: string, text = ""): string {
    const dialect = setup.dialect === "mssql" ? "mssql" : "postgres";
    const values = new Map([
      ["name", name],
      ["text", text],
    ]);
    return inDialect(dialect, `${statement} WHERE name = '{name}'`, values);
  }

  async function textOf(opened: TestStore, name: string): Promise<string> {
    const sql = sqlOf("SELECT execution_tokens FROM taskgate.shared_limit", name);
    return String(Object.values(only(await opened.raw(sql)))[0]);
  }

  textTest(
    "the text of a shared limit's tokens keeps each token's last holder; the last granted is given back first",
    async () => {
      const opened = open();
      const { store } = opened;
      const { shared, a } = await twoOn(store, 3);
      const { executionId, number } = await startWorker(store, a, { want: 3 });
      const before = parseTokens(await textOf(opened, shared));
      await store.releaseTokens({ executionId, keep: 1 });
      const free = { isHeld: false, grantee: number };
      expect(parseTokens(await textOf(opened, shared))).toEqual([
        before[0],
        { ...before[1], ...free },
        { ...before[2], ...free },
      ]);
    },
  );

  textTest(
    "the text of a shared limit's tokens gives a new id to a token of the dead, and to no other",
    async () => {
      const opened = open();
      const { store } = opened;
      const { shared, a, b } = await twoOn(store, 2);
      const dead = await startWorker(store, a, { want: 2 });
      await store.releaseTokens({ executionId: dead.executionId, keep: 1 });
      const before = parseTokens(await textOf(opened, shared));
      await opened.advance(10_001);
      const { number } = await startWorker(store, b, { want: 2 });
      const after = parseTokens(await textOf(opened, shared));
      expect(after).toMatchObject([
        { isHeld: true, grantee: number },
        { id: before[1]?.id, isHeld: true, grantee: number },
      ]);
      expect(after[0]?.id).not.toBe(before[0]?.id);
    },
  );

  const tokenId = "00000000-0000-4000-8000-00000000000a";
  for (const [part, token] of [
    ["id", "I:bad,S:1,G:0"],
    ["status", `I:${tokenId},S:2,G:0`],
    ["grantee", `I:${tokenId},S:1,G:+5`],
  ] as const) {
    textTest(
      `a tokens' text with a damaged ${part} stops each asker and each setter, and the error says which text it is`,
      async () => {
        const opened = open();
        const { store } = opened;
        const { a } = await twoOn(store, 2);
        const shared = uniqueName("50%");
        const b = await define(store, { sharedLimits: [{ name: shared, limit: 2 }] });
        const text = damagedText(token);
        const write = "UPDATE taskgate.shared_limit SET execution_tokens = '{text}'";
        await opened.raw(sqlOf(write, shared, text));
        const says = `execution_tokens: not a list of I:,S:,G: triples (${text}) in shared limit ${shared}`;
        const damage = {
          code: "TASKGATE_STORE_CONTRACT",
          message: expect.stringContaining(says),
        };
        await expect(store.startExecution(startInput(b))).rejects.toMatchObject(damage);
        await expect(setShared(store, shared, 1)).rejects.toMatchObject(damage);
        expect(await textOf(opened, shared)).toBe(text);
        expect(await tryStart(store, a)).toBe("started");
        await opened.raw(sqlOf(write, shared));
      },
    );
  }
}
