import { describe, expect, test } from "@jest/globals";
import { besideHolderMs } from "../../shared/core/rate";
import type { Rate } from "../../shared/core/rate";
import type { SetRateInput, TaskStore } from "../../shared/ports/task-store";
import {
  at,
  define,
  enqueue,
  factsOf,
  idsOf,
  registration,
  setLimit,
  startInput,
  startWorker,
  statusOf,
  uniqueName,
} from "../support/builders";
import type { Worker } from "../support/builders";
import { expectError } from "../support/expect-error";
import { within } from "../support/gate";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";
import { openAsOwner, untilSomebodyWaits, waitingSql } from "./open-transactions";
import { inDialect } from "./two-dialects";

/** How many tasks may start per period, for any number of tokens. */
export function describeRates(setup: StoreSetup): void {
  describe("a rate", () => {
    describeCounting(setup);
  });
  describe("what a rate counts", () => {
    describeStarts(setup);
  });
  describe("set_rate", () => {
    describeSetting(setup);
  });
  describe("set_rate's input", () => {
    describeInput(setup);
  });
  describe("a rate that changes", () => {
    describeChanges(setup);
  });
  describe("a rate that another call counts by at this moment", () => {
    describeCounted(setup);
  });
  describe("a rate that is taken away", () => {
    describeTakenAway(setup);
  });
}

const plenty = { limit: 100, prefetchMax: 0 };

/** Ten per second, so one each 100 ms. */
function tenPerSecond(burst: number): Rate {
  return { count: 10, periodMs: 1_000, burst };
}

function setRate(
  store: TaskStore,
  name: string,
  rate: SetRateInput["rate"],
): ReturnType<TaskStore["setRate"]> {
  return store.setRate({ name, rate, changedBy: "an operator" });
}

/** A start that isn't one of `withTokens`, which takes a permit itself. */
function startForTasks(store: TaskStore, name: string, want = 5): Promise<Worker> {
  return startWorker(store, name, { want, needsReady: true });
}

/** A worker with more tokens than any rate here allows starts, and tasks for it. */
async function busy(
  store: TaskStore,
  rate: Rate,
  changes: Partial<Parameters<typeof define>[1]> = {},
) {
  const name = await define(store, { ...plenty, rate, ...changes });
  await enqueue(store, name, 60);
  return { name, worker: await startForTasks(store, name, 50) };
}

function describeCounting(setup: StoreSetup): void {
  const open = useStore(setup);
  const exact = testWith(setup, "exact clock");

  exact("a rate lets a burst start, then one task per interval, to the millisecond", async () => {
    const opened = open();
    const { store } = opened;
    const { worker } = await busy(store, tenPerSecond(3));
    const first = await worker.work({ want: 5 });
    expect(first).toMatchObject({ status: "claimed", retryInMs: 100 });
    expect(first.claimed).toHaveLength(3);
    expect(await worker.work({ want: 5 })).toMatchObject({
      status: "limited",
      claimed: [],
      retryInMs: 100,
    });
    await opened.advance(99);
    expect(await worker.work({ want: 5 })).toMatchObject({ status: "limited", retryInMs: 1 });
    await opened.advance(1);
    const next = await worker.work({ want: 5 });
    expect(next).toMatchObject({ status: "claimed", retryInMs: 100 });
    expect(next.claimed).toHaveLength(1);
  });

  exact(
    "a rate gives the executions of a crowd turns: two ask for each permit, one gets it, and none is passed over",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { ...plenty, rate: tenPerSecond(1) });
      await enqueue(store, name, 60);
      const workers: Worker[] = [];
      for (let count = 0; count < 24; count += 1) workers.push(await startForTasks(store, name, 1));
      const nextAtMs = workers.map(() => 0);
      let calls = 0;
      let claims = 0;
      for (let nowMs = 0; nowMs <= 2_300; nowMs += 50) {
        if (nowMs > 0) await opened.advance(50);
        for (const [index, worker] of workers.entries()) {
          if ((nextAtMs[index] ?? 0) > nowMs) continue;
          const { claimed, retryInMs } = await worker.work({ want: 1 });
          calls += 1;
          claims += claimed.length;
          expect(retryInMs ?? 0).toBeLessThanOrEqual(1_000);
          // Each takes one task here.
          nextAtMs[index] =
            claimed.length === 1 ? Number.POSITIVE_INFINITY : nowMs + (retryInMs ?? 0);
        }
      }
      expect(claims).toBe(24);
      // Each asks at the start; then two ask for each of the other permits, the late one half an interval after the first.
      expect(calls).toBeLessThanOrEqual(24 + 3 * 24);
    },
  );

  exact(
    "a rate tells lists and people when the next permit comes, whatever turns were given",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { ...plenty, rate: tenPerSecond(1) });
      const tasks = await enqueue(store, name, 60);
      for (let count = 0; count < 8; count += 1)
        await (await startForTasks(store, name, 1)).work({ want: 1 });
      expect(await statusOf(store, name)).toMatchObject({ rateInMs: 100 });
      expect(await factsOf(store, at(tasks, 59))).toMatchObject({ rateInMs: 100 });
      await opened.advance(100);
      expect(await statusOf(store, name)).toMatchObject({ rateInMs: 0 });
    },
  );

  exact(
    "a rate tells a crowd no instant beyond a second, unless the permit itself comes later",
    async () => {
      const opened = open();
      const { store } = opened;
      const denials = async (rate: Rate, workers: number): Promise<(number | null)[]> => {
        const name = await define(store, { ...plenty, rate });
        await enqueue(store, name, 60);
        const told: (number | null)[] = [];
        for (let count = 0; count <= workers; count += 1) {
          const worker = await startForTasks(store, name, 1);
          told.push((await worker.work({ want: 1 })).retryInMs);
        }
        return told.slice(1);
      };
      const turns = Array.from({ length: 19 }, (_, index) => 100 + 50 * index);
      expect(await denials(tenPerSecond(1), 24)).toEqual([
        ...turns,
        1_000,
        1_000,
        1_000,
        1_000,
        1_000,
      ]);
      const everyTwoSeconds = { count: 1, periodMs: 2_000, burst: 1 };
      expect(await denials(everyTwoSeconds, 5)).toEqual([2_000, 2_000, 2_000, 2_000, 2_000]);
    },
  );

  exact("a rate gives turns up to a second from now, that one included", async () => {
    const opened = open();
    const { store } = opened;
    const { name, worker } = await busy(store, tenPerSecond(1));
    const ask = async (): Promise<number | null> =>
      (await (await startForTasks(store, name, 1)).work({ want: 1 })).retryInMs;
    expect(await worker.claim(1)).toHaveLength(1);
    const told: (number | null)[] = [];
    for (let count = 0; count < 19; count += 1) told.push(await ask());
    expect(told.slice(-3)).toEqual([900, 950, 1_000]);
    // The next turn is a second and 50 ms away.
    expect(await ask()).toBe(1_000);
    await opened.advance(50);
    expect(await ask()).toBe(1_000);
  });

  exact(
    "a rate gives the first caller a turn at a permit that is more than a second away",
    async () => {
      const opened = open();
      const { store } = opened;
      const { name, worker } = await busy(store, { count: 1, periodMs: 2_000, burst: 1 });
      const ask = async (): Promise<number | null> =>
        (await (await startForTasks(store, name, 1)).work({ want: 1 })).retryInMs;
      expect(await worker.claim(1)).toHaveLength(1);
      expect(await ask()).toBe(2_000);
      // The next one comes half an interval behind it, which is told as a second.
      await opened.advance(1_500);
      expect(await ask()).toBe(1_000);
    },
  );

  exact(
    "a rate lets a caller within a sixth of an interval before a permit wait for it, without a turn",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, {
        ...plenty,
        rate: { count: 25, periodMs: 3_000, burst: 1 },
      });
      await enqueue(store, name, 60);
      const told = async (workers: number): Promise<(number | null)[]> => {
        const answers: (number | null)[] = [];
        for (let count = 0; count < workers; count += 1)
          answers.push((await (await startForTasks(store, name, 1)).work({ want: 1 })).retryInMs);
        return answers;
      };
      await told(1);
      await opened.advance(99);
      expect(await told(4)).toEqual([21, 81, 141, 201]);
      await opened.advance(1);
      expect(await told(4)).toEqual([20, 20, 20, 20]);
    },
  );

  exact("a rate saves up a burst in a pause and no more", async () => {
    const opened = open();
    const { store } = opened;
    const { worker } = await busy(store, tenPerSecond(3));
    await worker.work({ want: 5 });
    await opened.advance(60_000);
    expect((await worker.work({ want: 5 })).claimed).toHaveLength(3);
    await opened.advance(250);
    expect((await worker.work({ want: 5 })).claimed).toHaveLength(2);
    await opened.advance(50);
    expect((await worker.work({ want: 5 })).claimed).toHaveLength(1);
  });

  exact("a rate starts in no window more than the burst and what refills in it", async () => {
    const opened = open();
    const { store } = opened;
    const { worker } = await busy(store, { count: 7, periodMs: 1_000, burst: 4 });
    const starts: number[] = [];
    const counts: number[] = [];
    let nowMs = 0;
    for (const pauseMs of [0, 1, 140, 2, 143, 500, 0, 286, 10, 1_000, 142, 1, 429]) {
      await opened.advance(pauseMs);
      nowMs += pauseMs;
      const { claimed } = await worker.work({ want: 9 });
      starts.push(...claimed.map(() => nowMs));
      counts.push(claimed.length);
    }
    for (const from of starts) {
      for (const to of starts.filter((start) => start >= from)) {
        const count = starts.filter((start) => start >= from && start <= to).length;
        expect(count).toBeLessThanOrEqual(4 + ((to - from) * 7) / 1_000);
      }
    }
    // No permit is lost on the way: the one pause that overflows the burst is that of a second.
    expect(counts).toEqual([4, 0, 0, 1, 1, 3, 0, 2, 0, 4, 0, 1, 3]);
  });

  test("a rate is one for all workers of a definition", async () => {
    const { store } = open();
    const { name, worker } = await busy(store, { count: 1, periodMs: 86_400_000, burst: 1 });
    const other = await startForTasks(store, name);
    expect(await worker.claim(1)).toHaveLength(1);
    expect(await other.work({ want: 5 })).toMatchObject({ status: "limited", claimed: [] });
  });

  test("a rate lets the first tasks in order be claimed, and the others stay where they are", async () => {
    const { store } = open();
    const name = await define(store, {
      ...plenty,
      rate: { count: 5, periodMs: 86_400_000, burst: 2 },
    });
    const ids = await enqueue(store, name, [{}, {}, {}]);
    const worker = await startForTasks(store, name);
    expect(idsOf(await worker.claim(3))).toEqual(ids.slice(0, 2));
    expect(await statusOf(store, name)).toMatchObject({ ready: 1, claimed: 2 });
  });

  test("a rate doesn't hold up completions", async () => {
    const { store } = open();
    const { name, worker } = await busy(store, { count: 1, periodMs: 86_400_000, burst: 1 });
    const claimed = await worker.claim(1);
    const answer = await worker.complete(claimed, 3);
    expect(answer).toMatchObject({ status: "limited", refused: [] });
    expect(answer.retryInMs).toBeGreaterThan(86_000_000);
    expect(await statusOf(store, name)).toMatchObject({ done: 1, claimed: 0 });
  });

  test("a rate makes no call wait where nothing is ready", async () => {
    const { store } = open();
    const name = await define(store, { ...plenty, rate: tenPerSecond(10) });
    await enqueue(store, name, [{}]);
    const worker = await startForTasks(store, name);
    expect(await worker.work({ want: 5 })).toMatchObject({ status: "claimed", retryInMs: null });
    expect(await worker.work({ want: 5 })).toMatchObject({ status: "none", retryInMs: null });
  });
}

function describeStarts(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a prefetched claim counts when it is claimed", async () => {
    const { store } = open();
    const rate = { count: 9, periodMs: 86_400_000, burst: 3 };
    const name = await define(store, { limit: 1, prefetchMax: 5, rate });
    await enqueue(store, name, [{}, {}, {}, {}]);
    const worker = await startForTasks(store, name);
    const { claimed } = await worker.work({ want: 4 });
    expect(claimed.map((task) => task.isPrefetched)).toEqual([false, true, true]);
  });

  test("a claim that is given back unstarted stays counted", async () => {
    const { store } = open();
    const { name, worker } = await busy(store, { count: 9, periodMs: 86_400_000, burst: 2 });
    await worker.claim(2);
    await store.finishExecution({ executionId: worker.executionId });
    const next = await startForTasks(store, name);
    expect(await next.work({ want: 1 })).toMatchObject({ status: "limited" });
  });

  test("a repeated call counts once", async () => {
    const { store } = open();
    const { worker } = await busy(store, { count: 9, periodMs: 86_400_000, burst: 2 });
    const call = { executionId: worker.executionId, callNumber: 1, done: [], started: [], want: 1 };
    const first = await store.work(call);
    const again = await store.work(call);
    expect(again.status).toBe("again");
    expect(idsOf(again.claimed)).toEqual(idsOf(first.claimed));
    expect((await store.work({ ...call, callNumber: 2, want: 5 })).claimed).toHaveLength(1);
  });

  test("a start that needs no task is one itself, tokens or not", async () => {
    const { store } = open();
    const rate = { count: 1, periodMs: 86_400_000, burst: 1 };
    const name = await define(store, { limit: 3, rate });
    const first = await startWorker(store, name, { want: 2 });
    const denied = await store.startExecution(startInput(name));
    expect(denied).toMatchObject({ status: "limited", executionId: null, tokens: 0 });
    expect(denied.retryInMs).toBeGreaterThan(86_000_000);
    expect(await statusOf(store, name)).toMatchObject({ held: 2, executions: 1 });
    const repeat = startInput(name);
    await first.finish();
    await setRate(store, name, null);
    expect((await store.startExecution(repeat)).status).toBe("started");
    await setRate(store, name, "code");
    expect((await store.startExecution(repeat)).status).toBe("started");
  });

  test("a rate isn't used up by calls that find no task", async () => {
    const { store } = open();
    const name = await define(store, {
      ...plenty,
      rate: { count: 9, periodMs: 86_400_000, burst: 3 },
    });
    await enqueue(store, name, 1);
    const worker = await startForTasks(store, name);
    await store.acquireTokens({ executionId: worker.executionId, want: 5 });
    expect(await worker.claim(5)).toHaveLength(1);
    await enqueue(store, name, 3);
    expect(await worker.claim(5)).toHaveLength(2);
  });
}

function describeSetting(setup: StoreSetup): void {
  const open = useStore(setup);
  const slow = { count: 1, periodMs: 86_400_000, burst: 1 };

  test("an operator's rate wins over the code's, and can be taken away", async () => {
    const { store } = open();
    const code = tenPerSecond(2);
    const name = await define(store, { rate: code });
    const own = { rate: code, rateSource: "code", rateInMs: 0 };
    expect(await statusOf(store, name)).toMatchObject(own);
    const set = { status: "set", oldRate: code, newRate: slow, ready: false };
    expect(await setRate(store, name, slow)).toEqual(set);
    expect(await setRate(store, name, slow)).toMatchObject({ status: "exists", newRate: slow });
    expect(await statusOf(store, name)).toMatchObject({
      rate: slow,
      rateSource: "operator",
      codeRate: code,
    });
    expect(await setRate(store, name, null)).toMatchObject({ oldRate: slow, newRate: null });
    expect(await statusOf(store, name)).toMatchObject({
      rate: null,
      rateSource: "operator",
      rateInMs: null,
    });
    expect(await setRate(store, name, "code")).toMatchObject({ oldRate: null, newRate: code });
  });

  test("set_rate acts at the next claim, on a definition without a rate of its own, too", async () => {
    const { store } = open();
    const name = await define(store, plenty);
    await enqueue(store, name, [{}, {}, {}, {}]);
    const worker = await startForTasks(store, name);
    expect(await worker.claim(1)).toHaveLength(1);
    expect(await setRate(store, name, slow)).toMatchObject({ oldRate: null, ready: true });
    expect(await worker.claim(5)).toHaveLength(1);
    expect(await worker.work({ want: 5 })).toMatchObject({ status: "limited" });
    await setRate(store, name, null);
    expect(await worker.claim(1)).toHaveLength(1);
    await setRate(store, name, "code");
    expect(await worker.claim(5)).toHaveLength(1);
    expect(await statusOf(store, name)).toMatchObject({ rate: null, rateSource: "code" });
  });

  testWith(setup, "exact clock")(
    "a slow rate's pause doesn't outlive it, and a new rate isn't a new burst",
    async () => {
      const opened = open();
      const { store } = opened;
      const { name, worker } = await busy(store, slow);
      await worker.claim(1);
      await setRate(store, name, tenPerSecond(3));
      expect(await worker.claim(5)).toHaveLength(2);
      await opened.advance(100);
      await setRate(store, name, { ...slow, count: 2, burst: 2 });
      expect(await worker.work({ want: 5 })).toMatchObject({
        status: "limited",
        retryInMs: 43_200_000,
      });
      expect(await statusOf(store, name)).toMatchObject({ rateInMs: 43_200_000 });
    },
  );

  test("the code's rate comes and goes with its registrations", async () => {
    const { store } = open();
    const input = registration();
    const { name } = input;
    await store.registerDefinition(input);
    const register = (build: number, rate: Rate | null) =>
      store.registerDefinition({ ...input, build, settings: { ...input.settings, rate } });
    await register(2, slow);
    expect(await statusOf(store, name)).toMatchObject({ rate: slow, codeRate: slow });
    await setRate(store, name, tenPerSecond(1));
    await register(3, null);
    expect(await statusOf(store, name)).toMatchObject({ rate: tenPerSecond(1), codeRate: null });
    await setRate(store, name, "code");
    expect(await statusOf(store, name)).toMatchObject({ rate: null, rateSource: "code" });
  });

  testWith(setup, "audit")(
    "set_rate is audited once, with the old and the new rate, the actor and the reason",
    async () => {
      const opened = open();
      const { store } = opened;
      const input = registration();
      const { name } = input;
      await store.registerDefinition(input);
      await store.registerDefinition({
        ...input,
        build: 2,
        settings: { ...input.settings, rate: slow },
      });
      await store.setRate({
        name,
        rate: tenPerSecond(2),
        changedBy: "ann",
        reason: "partner slow",
      });
      await store.setRate({ name, rate: tenPerSecond(2), changedBy: "ann", reason: "again" });
      await store.setRate({ name, rate: null, changedBy: "bob" });
      await store.setRate({ name, rate: "code", changedBy: "bob" });
      const slowText = '{"count":1,"periodMs":86400000,"burst":1}';
      const fastText = '{"count":10,"periodMs":1000,"burst":2}';
      const own = (await opened.readAudit(name)).filter((entry) =>
        entry.setting.startsWith("rate"),
      );
      expect(own.map(({ setting, ...rest }) => [setting, ...Object.values(rest)])).toEqual([
        ["rate", "none", slowText, "code", input.registeredBy, null],
        ["rate_override", null, fastText, "operator", "ann", "partner slow"],
        ["rate_override", fastText, "none", "operator", "bob", null],
        ["rate_override", "none", null, "operator", "bob", null],
      ]);
    },
  );
}

/** The field's name in SQL. */
function toField(field: keyof Rate): string {
  return `rate_${field === "periodMs" ? "period_ms" : field}`;
}

function describeInput(setup: StoreSetup): void {
  const open = useStore(setup);
  const good = { count: 10, periodMs: 1_000, burst: 10 };
  const bad: [keyof Rate, number][] = [
    ["count", 0],
    ["count", 1_000_001],
    ["periodMs", 999],
    ["periodMs", 86_400_001],
    ["burst", 0],
    ["burst", 11],
    ["count", 1.5],
  ];

  test.each(bad)("set_rate refuses a %s of %d, by the code, too", async (field, value) => {
    const { store } = open();
    const name = await define(store);
    const wrong = { ...good, [field]: value };
    const error = { code: "TASKGATE_ARG_INVALID", field: toField(field), value } as const;
    await expectError(setRate(store, name, wrong), error);
    await expectError(store.registerDefinition(registration({ settings: { rate: wrong } })), error);
  });

  test("set_rate takes the least and the greatest", async () => {
    const { store } = open();
    const name = await define(store);
    for (const rate of [
      { count: 1, periodMs: 1_000, burst: 1 },
      { count: 1_000_000, periodMs: 86_400_000, burst: 1_000_000 },
    ]) {
      expect(await setRate(store, name, rate)).toMatchObject({ status: "set", newRate: rate });
    }
  });

  test("set_rate refuses an unregistered name", async () => {
    const { store } = open();
    await expectError(setRate(store, "nobody", good), {
      code: "TASKGATE_ARG_UNKNOWN",
      value: "unknown definition (nobody)",
    });
  });
}

const slow = { count: 1, periodMs: 86_400_000, burst: 1 };

/** Ten per second, so one each 100 ms. */
/** Tasks, and a worker with more tokens than any rate here allows starts. */
async function busyWithNine(
  store: TaskStore,
  rate: Rate,
): Promise<{ name: string; worker: Worker }> {
  const name = await define(store, { limit: 100, prefetchMax: 0, rate });
  await enqueue(store, name, 9);
  return { name, worker: await startWorker(store, name, { want: 9, needsReady: true }) };
}

function describeChanges(setup: StoreSetup): void {
  const open = useStore(setup);
  const exact = testWith(setup, "exact clock");

  test("a rate's change leaves other definitions' rates alone", async () => {
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

  test("a rate that the code sets is written whole", async () => {
    const { store } = open();
    const input = registration({ settings: { rate: tenPerSecond(2) } });
    await store.registerDefinition(input);
    const next = { count: 10, periodMs: 2_000, burst: 3 };
    const settings = { ...input.settings, rate: next };
    await store.registerDefinition({ ...input, build: 2, settings });
    expect(await statusOf(store, input.name)).toMatchObject({ rate: next, codeRate: next });
  });

  exact("a rate that is set to what it was moves no pause", async () => {
    const opened = open();
    const { store } = opened;
    const { name, worker } = await busyWithNine(store, tenPerSecond(1));
    await worker.claim(1);
    await opened.advance(30);
    expect(await setRate(store, name, tenPerSecond(1))).toMatchObject({ status: "set" });
    expect(await statusOf(store, name)).toMatchObject({ rateInMs: 70, rateSource: "operator" });
  });

  exact("a rate that changes gives turns anew", async () => {
    const opened = open();
    const { store } = opened;
    const { name } = await busy(store, slow);
    // Until two old intervals from now.
    const ask = async (): Promise<number | null> =>
      (await (await startForTasks(store, name, 1)).work({ want: 1 })).retryInMs;
    for (let count = 0; count < 3; count += 1) await ask();
    await setRate(store, name, tenPerSecond(1));
    expect([await ask(), await ask(), await ask(), await ask()]).toEqual([100, 150, 200, 250]);
    // Nor does a rate that was taken away leave any behind.
    await setRate(store, name, slow);
    await ask();
    await setRate(store, name, null);
    await setRate(store, name, tenPerSecond(1));
    await (await startForTasks(store, name, 1)).work({ want: 1 });
    expect(await ask()).toBe(100);
  });

  exact("a rate that changes leaves the turns of other definitions as they are", async () => {
    const opened = open();
    const { store } = opened;
    const [changed, other] = [await busy(store, slow), await busy(store, tenPerSecond(1))];
    const ask = async (name: string): Promise<number | null> =>
      (await (await startForTasks(store, name, 1)).work({ want: 1 })).retryInMs;
    for (let count = 0; count < 2; count += 1) await ask(changed.name);
    expect(await other.worker.claim(1)).toHaveLength(1);
    expect([await ask(other.name), await ask(other.name)]).toEqual([100, 150]);
    await setRate(store, changed.name, tenPerSecond(2));
    expect(await ask(other.name)).toBe(200);
  });

  exact("a rate that changes lets pass what was used above the new burst", async () => {
    const opened = open();
    const { store } = opened;
    const { name, worker } = await busyWithNine(store, tenPerSecond(3));
    expect(await worker.claim(9)).toHaveLength(3);
    await setRate(store, name, tenPerSecond(1));
    expect(await statusOf(store, name)).toMatchObject({ rateInMs: 100 });
  });

  exact("a rate after none in force begins with its whole burst", async () => {
    const { store } = open();
    const { name, worker } = await busyWithNine(store, slow);
    expect(await worker.claim(9)).toHaveLength(1);
    await setRate(store, name, null);
    await setRate(store, name, slow);
    expect(await statusOf(store, name)).toMatchObject({ rateInMs: 0 });
    expect(await worker.claim(9)).toHaveLength(1);
  });

  exact(
    "a rate that changes from the fastest to the slowest after a day without a start begins anew",
    async () => {
      const opened = open();
      const { store } = opened;
      const fastest = { count: 1_000_000, periodMs: 1_000, burst: 1_000_000 };
      const name = await define(store, { rate: fastest });
      await opened.advance(86_400_000);
      expect(await setRate(store, name, slow)).toMatchObject({ oldRate: fastest, newRate: slow });
      expect(await statusOf(store, name)).toMatchObject({ rateInMs: 0 });
    },
  );

  test("a rate is set, as a limit is, of a definition whose name has 200 characters", async () => {
    const { store } = open();
    const name = await define(store, {}, uniqueName().padEnd(200, "n"));
    expect(await setRate(store, name, slow)).toMatchObject({ status: "set", newRate: slow });
    expect(await setLimit(store, name, 7)).toMatchObject({ status: "set", newLimit: 7 });
  });
}

/** Callers beside a held row: the next permit is due or not, the interval short or long, few turns are given or many. */
function drawnCases() {
  return [1_000, 100_000, 600_000, 60_000_000].flatMap((periodUs) =>
    [-3 * periodUs, -periodUs, 0, 40_000, 450_000, 985_000, 999_000, 1_000_001, 20_000_000].flatMap(
      (aheadUs) =>
        [null, 0, 140_000, 700_000, 1_500_000].flatMap((turnInUs) =>
          [0, 500, 999].map((lot) => ({ aheadUs, periodUs, turnInUs, lot })),
        ),
    ),
  );
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
    try {
      return await within(1_500, call());
    } finally {
      await writing.finish();
    }
  }

  const held = testWith(setup, "row locks", "raw sql");
  function expectWithin(
    [soonestMs, latestMs]: readonly [number, number],
    { status, retryInMs }: { status: string; retryInMs: number | null },
  ): void {
    expect(status).toBe("limited");
    expect(retryInMs).toBeGreaterThanOrEqual(soonestMs);
    expect(retryInMs).toBeLessThanOrEqual(latestMs);
  }

  held(
    "a rate that another call counts by lets a claim have nothing, and ask again at once",
    async () => {
      const opened = open();
      const { worker } = await busyWithNine(opened.store, tenPerSecond(9));
      const answer = await besideCount(opened, () => worker.work({ want: 5 }));
      expectWithin([5, 20], answer);
      expect(answer.claimed).toEqual([]);
      expect(await worker.claim(5)).toHaveLength(5);
    },
  );

  testWith(setup, "raw sql")(
    "a rate draws the same instant beside a held row in each dialect and in the code",
    async () => {
      const cases = drawnCases();
      const call =
        setup.dialect === "mssql" ? "Taskgate._RetryBesideMs" : "taskgate._retry_beside_ms";
      const values = cases.map(({ aheadUs, periodUs, turnInUs, lot }, index) =>
        [index, aheadUs, periodUs, turnInUs ?? "CAST(NULL AS bigint)", lot].join(", "),
      );
      const rows = await open().asOwner((transaction) =>
        transaction.query(
          `SELECT ${call}(v.Ahead, v.Period, v.Turn, v.Lot) AS ms FROM (VALUES (${values.join("), (")})) AS v (N, Ahead, Period, Turn, Lot) ORDER BY v.N`,
        ),
      );
      const nowUs = 10_000_000_000;
      expect(rows.map(({ ms }) => Number(ms))).toEqual(
        cases.map(({ aheadUs, periodUs, turnInUs, lot }) =>
          besideHolderMs(
            // Without a lead only what a burst saves up lies behind the clock.
            {
              count: 1,
              periodMs: periodUs / 1_000,
              burst: aheadUs < 0 ? 1 - aheadUs / periodUs : 1,
            },
            {
              nowUs,
              nextFreeAtUs: nowUs + Math.max(aheadUs, 0),
              turnAtUs: turnInUs === null ? null : nowUs + turnInUs,
            },
            lot / 1_000,
          ),
        ),
      );
    },
  );

  const counted = testWith(setup, "row locks", "raw sql", "exact clock");

  /** What a call of one of the definition's workers is told beside the held row, a dozen times. */
  async function toldBeside(opened: TestStore, name: string): Promise<(number | null)[]> {
    const worker = await startForTasks(opened.store, name, 1);
    const told: (number | null)[] = [];
    for (let count = 0; count < 12; count += 1)
      told.push((await besideCount(opened, () => worker.work({ want: 1 }))).retryInMs);
    return told;
  }

  counted(
    "a rate that another call counts by sends a claim behind the next permit, among the turns that are given",
    async () => {
      const opened = open();
      const { store } = opened;
      // The operator's rate is the one that counts, not the code's.
      const name = await define(store, {
        ...plenty,
        rate: { count: 20, periodMs: 86_400_000, burst: 20 },
      });
      await enqueue(store, name, 60);
      await setRate(store, name, tenPerSecond(1));
      await opened.advance(60_000);
      // A pause saves up no more than the burst, which the holder takes.
      for (const inMs of await toldBeside(opened, name)) {
        expect(inMs).toBeGreaterThanOrEqual(105);
        expect(inMs).toBeLessThanOrEqual(205);
      }
      const turns = 6;
      for (let count = 0; count <= turns; count += 1)
        await (await startForTasks(store, name, 1)).work({ want: 1 });
      const told = (await toldBeside(opened, name)).map(Number);
      expect(Math.min(...told)).toBeGreaterThanOrEqual(205);
      expect(Math.max(...told)).toBeLessThanOrEqual(505);
      expect(Math.max(...told)).toBeGreaterThan(305);
    },
  );

  counted("a rate that an operator took away holds up no claim beside its held row", async () => {
    const opened = open();
    const { name, worker } = await busy(opened.store, slow);
    await setRate(opened.store, name, null);
    const { claimed } = await besideCount(opened, () => worker.work({ want: 5 }));
    expect(claimed).toHaveLength(5);
  });

  held(
    "a rate that another call counts by lets a start without a task have nothing, and ask again within a second",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { rate: slow });
      const answer = await besideCount(opened, () => store.startExecution(startInput(name)));
      expectWithin([505, 1_000], answer);
      expect(answer).toMatchObject({ executionId: null, tokens: 0, demand: null });
      expect(await statusOf(store, name)).toMatchObject({ held: 0, executions: 0 });
      await startWorker(store, name);
    },
  );
}

function describeTakenAway(setup: StoreSetup): void {
  const open = useStore(setup);

  testWith(
    setup,
    "row locks",
    "raw sql",
  )(
    "a rate that is taken away lets a start go on that waits for its definition, whatever rates others have",
    async () => {
      const opened = open();
      const { store } = opened;
      await define(store, { rate: slow });
      const name = await define(store, { rate: slow });
      await startWorker(store, name);
      expect(await store.startExecution(startInput(name))).toMatchObject({ status: "limited" });
      const dialect = setup.dialect === "mssql" ? "mssql" : "postgres";
      const write = (sql: string): string => inDialect(dialect, sql, new Map([["name", name]]));
      const starting = await opened.asOwner(async (transaction) => {
        await transaction.query(
          write("UPDATE taskgate.task_definition SET name = name WHERE name = '{name}'"),
        );
        const answer = store.startExecution(startInput(name));
        await untilSomebodyWaits(opened, waitingSql[dialect]);
        await transaction.query(
          write(
            "DELETE FROM taskgate.rate_bucket WHERE task_definition_id = (SELECT task_definition_id FROM taskgate.task_definition WHERE name = '{name}')",
          ),
        );
        return [answer];
      });
      const [answer] = await Promise.all(starting);
      expect(answer).toMatchObject({ status: "started", tokens: 1 });
    },
  );
}
