import { describe, expect, test } from "@jest/globals";
import type { Rate } from "../../shared/core/rate";
import type { SetRateAnswer, SetRateInput, TaskStore } from "../../shared/ports/task-store";
import {
  define,
  enqueue,
  registration,
  setLimit,
  startInput,
  startWorker,
  statusOf,
  uniqueName,
} from "../support/builders";
import type { Worker } from "../support/builders";
import { within } from "../support/gate";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";
import { openAsOwner } from "./open-transactions";

/** Rates that change while they count, of several definitions, and while somebody else counts. */
export function describeRateEdges(setup: StoreSetup): void {
  describe("a rate that changes", () => {
    describeChanges(setup);
  });
  describe("a rate that somebody else counts by at this moment", () => {
    describeCounted(setup);
  });
}

const slow = { count: 1, periodMs: 86_400_000, burst: 1 };

/** Ten per second, so one each 100 ms. */
function tenPerSecond(burst: number): Rate {
  return { count: 10, periodMs: 1_000, burst };
}

function setRate(
  store: TaskStore,
  name: string,
  rate: SetRateInput["rate"],
): Promise<SetRateAnswer> {
  return store.setRate({ name, rate, changedBy: "an operator" });
}

/** Tasks, and a worker with more tokens than any rate here allows starts. */
async function busy(store: TaskStore, rate: Rate): Promise<{ name: string; worker: Worker }> {
  const name = await define(store, { limit: 100, spareMax: 0, rate });
  await enqueue(store, name, 9);
  return { name, worker: await startWorker(store, name, { want: 9, needsReady: true }) };
}

function describeChanges(setup: StoreSetup): void {
  const open = useStore(setup);
  const exact = testWith(setup, "exact clock");

  test("leaves other definitions' rates alone", async () => {
    const { store } = open();
    const own = tenPerSecond(2);
    const other = await define(store, { rate: own });
    const input = registration({ settings: { rate: own } });
    const { name } = input;
    await store.registerDefinition(input);
    await setRate(store, name, slow);
    const settings = { ...input.settings, rate: null };
    await store.registerDefinition({ ...input, build: 2, settings });
    await setRate(store, name, "code");
    expect(await statusOf(store, name)).toMatchObject({ rate: null });
    expect(await statusOf(store, other)).toMatchObject({
      rate: own,
      codeRate: own,
      rateSource: "code",
    });
  });

  test("by the code is written whole", async () => {
    const { store } = open();
    const input = registration({ settings: { rate: tenPerSecond(2) } });
    await store.registerDefinition(input);
    const next = { count: 10, periodMs: 2_000, burst: 3 };
    const settings = { ...input.settings, rate: next };
    await store.registerDefinition({ ...input, build: 2, settings });
    expect(await statusOf(store, input.name)).toMatchObject({ rate: next, codeRate: next });
  });

  exact("to what it was moves no pause", async () => {
    const opened = open();
    const { store } = opened;
    const { name, worker } = await busy(store, tenPerSecond(1));
    await worker.claim(1);
    await opened.advance(30);
    expect(await setRate(store, name, tenPerSecond(1))).toMatchObject({ status: "set" });
    expect(await statusOf(store, name)).toMatchObject({ rateInMs: 70, rateSource: "operator" });
  });

  exact("lets pass what was used above the new burst", async () => {
    const opened = open();
    const { store } = opened;
    const { name, worker } = await busy(store, tenPerSecond(3));
    expect(await worker.claim(9)).toHaveLength(3);
    await setRate(store, name, tenPerSecond(1));
    expect(await statusOf(store, name)).toMatchObject({ rateInMs: 100 });
  });

  exact("after none in force begins with its whole burst", async () => {
    const { store } = open();
    const { name, worker } = await busy(store, slow);
    expect(await worker.claim(9)).toHaveLength(1);
    await setRate(store, name, null);
    await setRate(store, name, slow);
    expect(await statusOf(store, name)).toMatchObject({ rateInMs: 0 });
    expect(await worker.claim(9)).toHaveLength(1);
  });

  exact("from the fastest to the slowest after a day without a start begins anew", async () => {
    const opened = open();
    const { store } = opened;
    const fastest = { count: 1_000_000, periodMs: 1_000, burst: 1_000_000 };
    const name = await define(store, { rate: fastest });
    await opened.advance(86_400_000);
    expect(await setRate(store, name, slow)).toMatchObject({ oldRate: fastest, newRate: slow });
    expect(await statusOf(store, name)).toMatchObject({ rateInMs: 0 });
  });

  test("is set, as a limit is, of a definition whose name has 200 characters", async () => {
    const { store } = open();
    const name = await define(store, {}, uniqueName().padEnd(200, "n"));
    expect(await setRate(store, name, slow)).toMatchObject({ status: "set", newRate: slow });
    expect(await setLimit(store, name, 7)).toMatchObject({ status: "set", newLimit: 7 });
  });
}

function describeCounted(setup: StoreSetup): void {
  const open = useStore(setup);

  /** What `call` is answered while another connection holds every rate's row. */
  async function besideCount<Answer>(
    opened: TestStore,
    call: () => Promise<Answer>,
  ): Promise<Answer> {
    const write =
      setup.dialect === "mssql"
        ? "UPDATE Taskgate.RateBucket SET NextFreeAt = NextFreeAt;"
        : "update taskgate.rate_bucket set next_free_at = next_free_at";
    const writing = await openAsOwner(opened, (transaction) => transaction.query(write));
    return within(1_500, call()).finally(() => writing.finish());
  }

  const held = testWith(setup, "row locks", "raw sql");
  const soon = { status: "limited", retryInMs: 5 };

  held("lets a claim have nothing, and ask again at once", async () => {
    const opened = open();
    const { worker } = await busy(opened.store, tenPerSecond(9));
    const answer = await besideCount(opened, () => worker.work({ want: 5 }));
    expect(answer).toMatchObject({ ...soon, claimed: [] });
    expect(await worker.claim(5)).toHaveLength(5);
  });

  held("lets a start that needs no task have nothing, and ask again at once", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { rate: slow });
    const answer = await besideCount(opened, () => store.startExecution(startInput(name)));
    expect(answer).toMatchObject({ ...soon, executionId: null, tokens: 0, demand: null });
    expect(await statusOf(store, name)).toMatchObject({ held: 0, executions: 0 });
    await startWorker(store, name);
  });
}
