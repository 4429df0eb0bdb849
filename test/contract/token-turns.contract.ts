import { describe, expect, test } from "@jest/globals";
import { callsDefinition } from "../../shared/core/calls-definition";
import type { TaskStore } from "../../shared/ports/task-store";
import { define, operationId, startWorker, uniqueName } from "../support/builders";
import { useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";
import { ask, give, hold } from "../support/token-parties";

interface Turns {
  /** The definition of calls of functions. */
  readonly calls: string;
  /** A definition of tasks that draws from the same limit. */
  readonly tasks: string;
  readonly shared: string;
}

async function turns(store: TaskStore, limit: number): Promise<Turns> {
  const shared = uniqueName("shared");
  const sharedLimits = [{ name: shared, limit }];
  const calls = await define(store, { limit: null, sharedLimits }, callsDefinition([shared]));
  const tasks = await define(store, { limit: null, sharedLimits });
  return { calls, tasks, shared };
}

/** Processes whose functions make calls under a limit take turns: they give their last token of it, too. */
export function describeTokenTurns(setup: StoreSetup): void {
  describe("the last token of calls of functions", () => {
    describeLast(setup);
  });
  describe("the last token", () => {
    describeKept(setup);
  });
}

function describeLast(setup: StoreSetup): void {
  const open = useStore(setup);

  test("start_execution notes the denial of calls and of tasks that hold none, and heartbeat tells the holder", async () => {
    for (const asker of ["calls", "tasks"] as const) {
      const { store } = open();
      const names = await turns(store, 1);
      const holder = await hold(store, names.calls, "first");
      expect(await holder.beat()).toMatchObject({ overLimit: 0, releaseRequested: false });
      expect(await ask(store, names[asker], "second")).toMatchObject({
        status: "limited",
        demand: "noted",
      });
      expect(await holder.beat()).toMatchObject({ overLimit: 0, releaseRequested: true });
    }
  });

  test("release_surplus gives the last token once, and the denied process gets it", async () => {
    const { store } = open();
    const { calls } = await turns(store, 1);
    const holder = await hold(store, calls, "first");
    await ask(store, calls, "second");
    const gift = { status: "released", tokens: 0, freed: 1, overLimit: 0, given: 1 };
    expect(await give(holder)).toMatchObject(gift);
    expect(await give(holder)).toMatchObject({ tokens: 0, freed: 0, given: 0 });
    expect(await ask(store, calls, "second")).toMatchObject({ status: "started", tokens: 1 });
    expect(await holder.beat()).toMatchObject({ overLimit: 0, releaseRequested: false });
  });

  test("release_surplus keeps a last token that a body runs on, and gives it afterwards", async () => {
    const { store } = open();
    const { calls } = await turns(store, 1);
    const holder = await hold(store, calls, "first");
    await ask(store, calls, "second");
    expect(await give(holder, 1)).toMatchObject({ tokens: 1, freed: 0, given: 0 });
    expect(await holder.beat()).toMatchObject({ overLimit: 0, releaseRequested: true });
    expect(await give(holder)).toMatchObject({ tokens: 0, freed: 1, given: 1 });
  });

  test("release_surplus of one of several holders gives; the others then keep theirs", async () => {
    const { store } = open();
    const { calls } = await turns(store, 2);
    const holders = [
      await startWorker(store, calls, { worker: "first", want: 1 }),
      await startWorker(store, calls, { worker: "second", want: 1 }),
    ];
    expect(await ask(store, calls, "third")).toMatchObject({ demand: "noted" });
    const [first, second] = holders;
    if (first === undefined || second === undefined) throw new Error("two holders");
    expect(await give(first)).toMatchObject({ freed: 1, given: 1 });
    expect(await second.beat()).toMatchObject({ overLimit: 0, releaseRequested: false });
    expect(await give(second)).toMatchObject({ tokens: 1, freed: 0, given: 0 });
  });

  test("acquire_tokens of a process that has given its last one is noted, and it gets one in its turn", async () => {
    const opened = open();
    const { store } = opened;
    const { calls } = await turns(store, 1);
    const first = await hold(store, calls, "first");
    await ask(store, calls, "second");
    await give(first);
    const second = await hold(store, calls, "second");
    const more = { executionId: first.executionId, want: 1 };
    await opened.advance(1_000);
    expect(await store.acquireTokens(more)).toMatchObject({ status: "limited", demand: "noted" });
    expect(await give(second)).toMatchObject({ tokens: 0, given: 1 });
    expect(await store.acquireTokens(more)).toMatchObject({ status: "granted", tokens: 1 });
  });
}

function describeKept(setup: StoreSetup): void {
  const open = useStore(setup);

  test("the last token stays with calls while another process holds more", async () => {
    const { store } = open();
    const { calls } = await turns(store, 3);
    const rich = await startWorker(store, calls, { worker: "rich", want: 2 });
    const poor = await startWorker(store, calls, { worker: "poor", want: 1 });
    expect(await ask(store, calls, "third")).toMatchObject({ demand: "noted" });
    expect(await give(poor)).toMatchObject({ tokens: 1, given: 0 });
    expect(await give(rich)).toMatchObject({ tokens: 1, given: 1 });
  });

  test("the last token stays with a worker of tasks, and nothing is noted for the asker", async () => {
    const { store } = open();
    const { calls, tasks } = await turns(store, 1);
    const holder = await hold(store, tasks, "first");
    expect(await ask(store, calls, "second")).toMatchObject({ status: "limited", demand: null });
    expect(await holder.beat()).toMatchObject({ overLimit: 0, releaseRequested: false });
    expect(await give(holder)).toMatchObject({ tokens: 1, given: 0 });
  });

  test("the last token of a worker of tasks stays also where calls hold another one", async () => {
    const { store } = open();
    const { calls, tasks } = await turns(store, 2);
    const worker = await startWorker(store, tasks, { worker: "first", want: 1 });
    const caller = await startWorker(store, calls, { worker: "second", want: 1 });
    expect(await ask(store, tasks, "third")).toMatchObject({ demand: "noted" });
    expect(await worker.beat()).toMatchObject({ overLimit: 0, releaseRequested: false });
    expect(await give(worker)).toMatchObject({ tokens: 1, given: 0 });
    expect(await give(caller)).toMatchObject({ tokens: 0, given: 1, woken: [tasks] });
  });

  test("the last token is asked for by no process that holds one itself, nor at limit 0", async () => {
    const { store } = open();
    const { calls, shared } = await turns(store, 2);
    const first = await startWorker(store, calls, { worker: "first", want: 1 });
    await startWorker(store, calls, { worker: "second", want: 1 });
    const more = { executionId: first.executionId, want: 2 };
    expect(await store.acquireTokens(more)).toMatchObject({ granted: 0, demand: null });
    const change = { name: shared, operationId: operationId(), changedBy: "me" };
    await store.setSharedLimit({ ...change, limit: 0 });
    expect(await ask(store, calls, "third")).toMatchObject({ status: "limited", demand: null });
  });
}
