import { describe, expect, test } from "@jest/globals";
import {
  define,
  enqueue,
  registration,
  setLimit,
  startInput,
  startWorker,
  statusOf,
  tryStart,
  uniqueName,
} from "../support/builders";
import { expectError } from "../support/expect-error";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";

/** Starts and tokens: the fields of each answer. */
export function describeStarts(setup: StoreSetup): void {
  describe("start_execution answers", () => {
    describeAnswers(setup);
  });
  describe("start_execution repeated with its operation id", () => {
    describeRepeats(setup);
  });
  describe("acquire_tokens and release_tokens answer", () => {
    describeTokens(setup);
  });
  describe("a damaged token", () => {
    describeDamage(setup);
  });
  describe("a damaged token in a text of the same length", () => {
    describeSilentDamage(setup);
  });
  describe("a denied start", () => {
    describeDenials(setup);
  });
  describe("an operation id of another definition", () => {
    describeForeignIds(setup);
  });
}

function describeAnswers(setup: StoreSetup): void {
  const open = useStore(setup);

  test("start_execution answers no wait when it has started, and no token fence otherwise", async () => {
    const { store } = open();
    const input = registration({ build: 5, settings: { limit: 2 } });
    await store.registerDefinition(input);
    const { name } = input;
    const start = (changes: Parameters<typeof startInput>[1] = {}) =>
      store.startExecution(startInput(name, { build: 5, ...changes }));
    expect(await start({ needsReady: true })).toMatchObject({ status: "none", retryInMs: null });
    expect(await start()).toMatchObject({ status: "started", retryInMs: null, nextDueMs: null });
    expect(await start()).toMatchObject({ status: "started", retryInMs: null });
    expect(await start()).toMatchObject({ status: "limited", tokenFence: null });
    const nothing = { leaseMs: null, prefetchMax: null, tokenFence: null, executionId: null };
    for (const needsReady of [true, false]) {
      const outdated = await start({ build: 6, needsReady });
      expect(outdated).toMatchObject({ status: "outdated", ready: 0, ...nothing });
      const unknown = await store.startExecution(startInput("nobody", { needsReady }));
      expect(unknown).toMatchObject({ status: "unknown", ready: 0, ...nothing });
    }
    await store.pauseDefinition({ name, changedBy: "me" });
    expect(await start()).toMatchObject({ status: "paused", tokenFence: null, retryInMs: null });
  });

  test("tasks are counted up to the wanted number, ready and due ones together", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 100 });
    const ask = async (want: number) =>
      (await store.startExecution(startInput(name, { want, needsReady: true }))).ready;
    await enqueue(store, name, [{}, {}, {}, ...Array.from({ length: 5 }, () => ({ runInMs: 1 }))]);
    await opened.advance(1_000);
    expect(await ask(2)).toBe(2);
    expect(await ask(3)).toBe(3);
    expect(await ask(5)).toBe(5);
    expect(await ask(20)).toBe(8);
  });
}

function describeRepeats(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a repeat of start_execution never moves the lease back, also after the definition's got shorter", async () => {
    const { store } = open();
    const name = await define(store, { limit: 1, leaseMs: 60_000 });
    const input = startInput(name);
    await store.startExecution(input);
    await store.registerDefinition(registration({ name, build: 2, settings: { leaseMs: 5_000 } }));
    await store.startExecution({ ...input, build: 2 });
    const { executions } = await store.listExecutions({ name, isOpen: true, max: 1 });
    expect(executions[0]?.leaseLeftMs).toBeGreaterThan(20_000);
  });

  test("a repeat of start_execution starts also when its own tokens fill the limit and nothing is ready", async () => {
    const { store } = open();
    const name = await define(store, { limit: 1 });
    await enqueue(store, name, 1);
    const input = startInput(name, { needsReady: true });
    const first = await store.startExecution(input);
    const { executionId } = first;
    if (executionId === null) throw new Error("not started");
    await store.work({ executionId, callNumber: 1, done: [], started: [], want: 1 });
    expect(await store.startExecution(input)).toEqual({ ...first, ready: 1, deadHolders: 0 });
  });

  test("the lease begins anew", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 1, leaseMs: 10_000 });
    const input = startInput(name);
    await store.startExecution(input);
    await opened.advance(7_000);
    expect((await store.startExecution(input)).status).toBe("started");
    await opened.advance(7_000);
    expect(await tryStart(store, name)).toBe("limited");
  });

  test("a repeat of start_execution is limited when it has given all tokens back or was declared dead", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 2, leaseMs: 10_000 });
    const expected = { status: "limited", executionId: null, tokens: 0, tokenFence: null };
    const input = startInput(name);
    const { executionId } = await store.startExecution(input);
    if (executionId === null) throw new Error("not started");
    await store.releaseTokens({ executionId, keep: 0 });
    expect(await store.startExecution(input)).toMatchObject(expected);
    const other = startInput(name, { want: 2 });
    expect((await store.startExecution(other)).tokens).toBe(2);
    await opened.advance(10_001);
    expect(await tryStart(store, name)).toBe("started");
    expect(await store.startExecution(other)).toMatchObject(expected);
  });

  test("newer code hears that it is outdated, and registers first", async () => {
    const { store } = open();
    const registered = registration({ build: 5 });
    await store.registerDefinition(registered);
    const input = startInput(registered.name, { build: 5 });
    const { executionId } = await store.startExecution(input);
    expect(await store.startExecution({ ...input, build: 6 })).toMatchObject({
      status: "outdated",
      executionId: null,
      tokens: 0,
    });
    expect((await store.startExecution(input)).executionId).toBe(executionId);
  });
}

function describeTokens(setup: StoreSetup): void {
  const open = useStore(setup);

  test("acquire_tokens answers no wait when it grants, also when others hold tokens and it held none before", async () => {
    const { store } = open();
    const name = await define(store, { limit: 3 });
    const { executionId } = await startWorker(store, name);
    await startWorker(store, name);
    const granted = { status: "granted", retryInMs: null };
    expect(await store.acquireTokens({ executionId, want: 1 })).toMatchObject(granted);
    await store.releaseTokens({ executionId, keep: 0 });
    for (const { want, ...rest } of [
      { want: 1, tokens: 1, granted: 1 },
      { want: 2, tokens: 2, granted: 1 },
      { want: 9, tokens: 2, granted: 0 },
    ]) {
      expect(await store.acquireTokens({ executionId, want })).toMatchObject({
        ...granted,
        ...rest,
      });
    }
    expect((await statusOf(store, name)).held).toBe(3);
  });

  testWith(setup, "write detection")(
    "acquire_tokens with nothing held writes nothing where it is limited or paused",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 1 });
      const { executionId } = await startWorker(store, name);
      await store.releaseTokens({ executionId, keep: 0 });
      await startWorker(store, name);
      const before = await opened.readVersions();
      expect((await store.acquireTokens({ executionId, want: 1 })).status).toBe("limited");
      expect(await opened.readVersions()).toBe(before);
      await store.pauseDefinition({ name, changedBy: "me" });
      const paused = await opened.readVersions();
      expect((await store.acquireTokens({ executionId, want: 1 })).status).toBe("paused");
      expect(await opened.readVersions()).toBe(paused);
    },
  );

  test("release_tokens tells no definition when no task waits", async () => {
    const { store } = open();
    const name = await define(store, { limit: 2 });
    const { executionId } = await startWorker(store, name, { want: 2 });
    await enqueue(store, await define(store), 1);
    expect(await store.releaseTokens({ executionId, keep: 1 })).toEqual({
      status: "released",
      tokens: 1,
      freed: 1,
      ready: false,
      woken: [],
    });
  });

  test("tokens without a limit are counted when held, given back and asked for again, and none is granted while paused", async () => {
    const { store } = open();
    const name = await define(store, { limit: null });
    const { executionId } = await startWorker(store, name, { want: 2 });
    expect(await store.releaseTokens({ executionId, keep: 2 })).toMatchObject({ freed: 0 });
    expect(await store.releaseTokens({ executionId, keep: 0 })).toMatchObject({ freed: 2 });
    const other = await startWorker(store, name, { want: 2 });
    const { tokenFence } = await store.acquireTokens({ executionId: other.executionId, want: 2 });
    expect(tokenFence).toBe(other.answer.tokenFence);
    await store.pauseDefinition({ name, changedBy: "me" });
    expect(await store.acquireTokens({ executionId, want: 2 })).toMatchObject({
      status: "paused",
      tokens: 0,
    });
    expect(await store.acquireTokens({ executionId: other.executionId, want: 5 })).toMatchObject({
      status: "granted",
      tokens: 2,
      granted: 0,
      tokenFence,
    });
    expect((await statusOf(store, name)).held).toBe(2);
  });

  test("release_surplus gives nothing back at the limit or below it", async () => {
    const { store } = open();
    const name = await define(store, { limit: 5 });
    const { executionId } = await startWorker(store, name, { want: 3 });
    for (const limit of [4, 3]) {
      await setLimit(store, name, limit);
      expect(await store.releaseSurplus({ executionId, keep: 0 })).toEqual({
        status: "released",
        tokens: 3,
        freed: 0,
        overLimit: 0,
        given: 0,
        woken: [],
      });
    }
  });

  testWith(setup, "exact clock")(
    "acquire_tokens is limited exactly at the end of the last lease, with one millisecond to wait",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 1, leaseMs: 10_000 });
      await startWorker(store, name);
      await opened.advance(10_000);
      expect(await store.startExecution(startInput(name))).toMatchObject({
        status: "limited",
        retryInMs: 1,
      });
    },
  );

  testWith(setup, "exact clock")(
    "a denial tells when the first holder's lease ends, whatever executions that hold nothing",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 1, leaseMs: 10_000 });
      const { executionId } = await startWorker(store, name);
      await store.releaseTokens({ executionId, keep: 0 });
      await opened.advance(4_000);
      await startWorker(store, name);
      expect(await store.startExecution(startInput(name))).toMatchObject({
        status: "limited",
        retryInMs: 10_001,
      });
    },
  );

  testWith(setup, "token text")(
    "the tokens that were granted last go first, and free ones are granted from the first on",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 4 });
      const first = await startWorker(store, name, { want: 3 });
      const second = await startWorker(store, name, { want: 1 });
      const statuses = async () =>
        (await opened.readTokens(name))
          .toLowerCase()
          .match(/s:[01]/g)
          ?.join(" ");
      await store.releaseTokens({ executionId: first.executionId, keep: 1 });
      expect(await statuses()).toBe("s:0 s:1 s:1 s:0");
      await store.acquireTokens({ executionId: second.executionId, want: 2 });
      expect(await statuses()).toBe("s:0 s:0 s:1 s:0");
      await setLimit(store, name, 3);
      expect(await statuses()).toBe("s:0 s:0 s:0");
    },
  );
}

function describeDamage(setup: StoreSetup): void {
  const open = useStore(setup);
  const id = "00000000-0000-4000-8000-0000000000ab";

  for (const damage of ["I:zzz,S:1,G:0", `I:${id},S:7,G:0`, `I:${id},S:1,G:x`]) {
    testWith(setup, "token text")(
      `${damage} beside sound ones is told to every asker, though others fill the limit`,
      async () => {
        const opened = open();
        const { store } = opened;
        const name = await define(store, { limit: 1 });
        const { executionId } = await startWorker(store, name);
        opened.expectDamage();
        await opened.writeTokens(name, `${await opened.readTokens(name)},${damage}`);
        const expected = { code: "TASKGATE_STORE_CONTRACT", value: damage } as const;
        await expectError(store.startExecution(startInput(name)), expected);
        await expectError(store.acquireTokens({ executionId, want: 2 }), expected);
        await expectError(store.releaseTokens({ executionId, keep: 0 }), expected);
      },
    );
  }
}

/** Tokens are changed past the operations, without a change of their text's length. */
function describeSilentDamage(setup: StoreSetup): void {
  const open = useStore(setup);
  const text =
    setup.dialect === "mssql"
      ? { table: "Taskgate.TaskDefinition", column: "ExecutionTokens" }
      : { table: "taskgate.task_definition", column: "execution_tokens" };

  const damages = [
    ["S:1", "S:7"],
    ["S:0", "S:7"],
    [",S:1", ";S:1"],
  ] as const;
  for (const [sound, broken] of damages) {
    testWith(setup, "raw sql")(
      `${sound} that became ${broken} is told to an execution that gives back or asks`,
      async () => {
        const opened = open();
        const { store } = opened;
        const name = await define(store, { limit: 2 });
        const { executionId } = await startWorker(store, name, { want: 1 });
        opened.expectDamage();
        // As text, where a token is a row.
        await opened.writeTokens(name, await opened.readTokens(name));
        await opened.raw(
          `UPDATE ${text.table} SET ${text.column} = REPLACE(${text.column}, '${sound}', '${broken}')`,
        );
        const expected = { code: "TASKGATE_STORE_CONTRACT" } as const;
        await expect(store.releaseTokens({ executionId, keep: 0 })).rejects.toMatchObject(expected);
        await expect(store.acquireTokens({ executionId, want: 2 })).rejects.toMatchObject(expected);
      },
    );
  }
}

function describeDenials(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a denied start by a shared limit is noted also while the definition has free tokens of its own", async () => {
    const { store } = open();
    const sharedLimits = [{ name: uniqueName("shared"), limit: 4 }];
    const name = await define(store, { limit: 9, sharedLimits });
    await startWorker(store, name, { worker: "rich", want: 4 });
    const denied = await store.startExecution(startInput(name, { worker: "poor" }));
    expect(denied).toMatchObject({ status: "limited", demand: "noted" });
  });

  test("a denied start is noted under a limit of 1 while an execution holds more from before, unless nothing may start", async () => {
    const { store } = open();
    const name = await define(store, { limit: 3 });
    await startWorker(store, name, { worker: "rich", want: 3 });
    const ask = () => store.startExecution(startInput(name, { worker: "poor" }));
    await setLimit(store, name, 0);
    expect(await ask()).toMatchObject({ status: "limited", demand: null });
    await setLimit(store, name, 1);
    expect(await ask()).toMatchObject({ status: "limited", demand: "noted" });
  });
}

function describeForeignIds(setup: StoreSetup): void {
  const open = useStore(setup);

  testWith(setup, "exact clock")(
    "an operation id of another definition is refused, and that one's lease stays as it is",
    async () => {
      const opened = open();
      const { store } = opened;
      const [own, other] = [await define(store), await define(store)];
      const first = startInput(own);
      await store.startExecution(first); // for a minute
      await opened.advance(5_000);
      const repeat = { ...first, name: other };
      await expectError(store.startExecution(repeat), { code: "TASKGATE_ARG_CONFLICT" });
      const { executions } = await store.listExecutions({ name: own, isOpen: true, max: 1 });
      expect(executions).toMatchObject([{ leaseLeftMs: 55_000 }]);
    },
  );
}
