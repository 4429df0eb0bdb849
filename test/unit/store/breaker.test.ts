import { describe, expect, test } from "@jest/globals";
import {
  InvalidArgumentError,
  StoreUnavailableError,
  StoreUncertainError,
} from "../../../shared/core/errors";
import { behindBreaker, Breaker } from "../../../shared/store/breaker";
import { operations } from "../../../shared/store/operations";
import type { ProcedureCaller } from "../../../shared/store/procedure-caller";

/** A breaker on a clock that is moved by hand; who sleeps wakes up when the clock passes. */
function setUp() {
  const time = { nowMs: 0 };
  const sleepers: { atMs: number; wake: () => void }[] = [];
  const news: string[] = [];
  const breaker = new Breaker({
    clock: { monotonicMs: () => time.nowMs },
    sleep: (ms) =>
      new Promise((resolve) => sleepers.push({ atMs: time.nowMs + ms, wake: resolve })),
    onNews: (what) => news.push(what.kind),
  });
  const pass = async (ms: number): Promise<void> => {
    time.nowMs += ms;
    for (const sleeper of sleepers.splice(0)) {
      if (sleeper.atMs <= time.nowMs) sleeper.wake();
      else sleepers.push(sleeper);
    }
    await settle();
  };
  return { breaker, news, pass, time };
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

/** A call whose answer the test gives. */
function openCall() {
  let asked = 0;
  const answers: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const call = (): Promise<void> => {
    asked += 1;
    return new Promise((resolve, reject) => answers.push({ resolve, reject }));
  };
  return { call, answers, asked: () => asked };
}

const away = new StoreUnavailableError("connect ECONNREFUSED");
const fails = (error: Error) => () => Promise.reject(error);
const works = (): Promise<string> => Promise.resolve("answer");

describe("run", () => {
  test("the breaker calls while the store answers, all at once", async () => {
    const { breaker, news } = setUp();
    const { call, answers, asked } = openCall();
    const calls = [breaker.run(call), breaker.run(call), breaker.run(call)];
    await settle();
    expect(asked()).toBe(3);
    for (const answer of answers) answer.resolve();
    await Promise.all(calls);
    expect(news).toEqual([]);
  });

  test("the first call after an outage is found is the probe, and all others wait for it", async () => {
    const { breaker, news } = setUp();
    await expect(breaker.run(fails(away))).rejects.toBe(away);
    const { call, answers, asked } = openCall();
    const calls = [1, 2, 3].map(() => breaker.run(call));
    await settle();
    expect(asked()).toBe(1);
    answers[0]?.resolve();
    await settle();
    expect(asked()).toBe(3);
    for (const answer of answers) answer.resolve();
    await Promise.all(calls);
    expect(news).toEqual(["away", "back"]);
  });

  test("a failed probe is the failure of all that waited for it; the pauses grow to 5 s", async () => {
    const { breaker, pass } = setUp();
    await expect(breaker.run(fails(away))).rejects.toBe(away);
    const pauses: number[] = [];
    for (let round = 0; round < 6; round += 1) {
      const { call, answers, asked } = openCall();
      const calls = Promise.allSettled([breaker.run(call), breaker.run(call)]);
      let waitedMs = 0;
      await settle();
      while (asked() === 0) {
        await pass(500);
        waitedMs += 500;
      }
      answers[0]?.reject(away);
      const outcomes = await calls;
      expect(outcomes.map((outcome) => outcome.status)).toEqual(["rejected", "rejected"]);
      expect(asked()).toBe(1);
      pauses.push(waitedMs);
    }
    expect(pauses).toEqual([0, 500, 1_000, 2_000, 5_000, 5_000]);
  });

  test("a refusal by the server is an answer: the store is back", async () => {
    const { breaker, news } = setUp();
    await expect(breaker.run(fails(away))).rejects.toBe(away);
    const refused = new InvalidArgumentError("no such definition");
    await expect(breaker.run(fails(refused))).rejects.toBe(refused);
    expect(news).toEqual(["away", "back"]);
  });

  test("a store that refuses writes stays away while reads are answered, until a write is", async () => {
    const { breaker, news, pass } = setUp();
    const readOnly = new StoreUnavailableError("read-only", { details: { isReadOnly: true } });
    await expect(breaker.run(fails(readOnly))).rejects.toBe(readOnly);
    for (let round = 0; round < 5; round += 1) {
      expect(await breaker.run(works, "reads")).toBe("answer");
      // Work that only reads is let in.
      await breaker.enter(() => Promise.reject(new Error("it isn't asked")));
      await expect(breaker.run(fails(readOnly))).rejects.toBe(readOnly);
      await pass(5_000);
    }
    expect(news).toEqual(["away"]);
    expect(await breaker.run(works)).toBe("answer");
    expect(news).toEqual(["away", "back"]);
  });

  test("no connection of the process's own being free doesn't say that the store is away", async () => {
    const { breaker, news } = setUp();
    const busy = new StoreUnavailableError("no connection got free", { details: { isBusy: true } });
    await expect(breaker.run(fails(busy))).rejects.toBe(busy);
    expect(news).toEqual([]);
  });

  test("one lost answer among others that came says nothing", async () => {
    const { breaker, news, time } = setUp();
    const { call, answers } = openCall();
    const slow = breaker.run(call);
    time.nowMs = 1_000;
    await breaker.run(works);
    answers[0]?.reject(new StoreUncertainError("no answer within 30000 ms"));
    await expect(slow).rejects.toThrow("no answer");
    expect(news).toEqual([]);
  });

  test("a lost answer with no other since is an outage", async () => {
    const { breaker, news } = setUp();
    await expect(breaker.run(fails(new StoreUncertainError("lost")))).rejects.toThrow("lost");
    expect(news).toEqual(["away"]);
  });
});

describe("enter", () => {
  test("the breaker asks nothing while the store answers", async () => {
    const { breaker } = setUp();
    const { call, asked } = openCall();
    await breaker.enter(call);
    expect(asked()).toBe(0);
  });

  test("the breaker lets one call ask while the store is away, and refuses eleven at once, without waiting", async () => {
    const { breaker } = setUp();
    await expect(breaker.run(fails(away))).rejects.toBe(away);
    const { call, answers, asked } = openCall();
    const first = breaker.enter(call);
    const others = Array.from({ length: 11 }, () => breaker.enter(call));
    const outcomes = await Promise.allSettled(others);
    expect(outcomes.every((outcome) => outcome.status === "rejected")).toBe(true);
    expect(asked()).toBe(1);
    answers[0]?.reject(away);
    await expect(first).rejects.toBe(away);
    // In the pause behind a failed probe no call asks.
    await expect(breaker.enter(call)).rejects.toThrow(/The database is away.*ECONNREFUSED/);
    expect(asked()).toBe(1);
  });

  test("the breaker lets in again when a probe was answered", async () => {
    const { breaker, news } = setUp();
    await expect(breaker.run(fails(away))).rejects.toBe(away);
    await breaker.enter(() => Promise.resolve());
    await breaker.enter(fails(new Error("asked again")));
    expect(news).toEqual(["away", "back"]);
  });
});

describe("a store behind the breaker", () => {
  const caller = (transaction: ProcedureCaller["transaction"]): ProcedureCaller => ({
    dialect: "postgres",
    call: () => Promise.reject(away),
    completeAndCommit: () => Promise.reject(away),
    transaction,
    close: () => Promise.resolve(),
  });
  const within = { dialect: "postgres" } as never;

  test("a transaction is answered when it has begun: others don't wait for its body", async () => {
    const { breaker } = setUp();
    const store = behindBreaker(
      caller((body) => body(within)),
      breaker,
    );
    await expect(store.call(operations.sweep, {})).rejects.toBe(away);
    const { call, answers } = openCall();
    const long = store.transaction(call);
    await settle();
    await expect(breaker.run(works)).resolves.toBe("answer");
    answers[0]?.resolve();
    await long;
  });

  test("an error of a transaction's body says nothing of the store", async () => {
    const { breaker, news } = setUp();
    const store = behindBreaker(
      caller((body) => body(within)),
      breaker,
    );
    const own = new Error("the user's");
    await expect(store.transaction(fails(own))).rejects.toBe(own);
    expect(news).toEqual([]);
  });
});
