import { beforeEach, expect, test } from "@jest/globals";
import { asFence } from "../../../shared/core/ids";
import { FreeTokenHints } from "../../../shared/platform/free-token-hints";
import type { ReadFreeTokensAnswer } from "../../../shared/ports/task-store";
import type { HintOptions } from "../../../shared/ports/wake-up";
import { HandTime } from "./hand-time";

let time = new HandTime();
let sent: HintOptions[] = [];
let asked: (string | null)[] = [];
let answer: Partial<ReadFreeTokensAnswer> | "away" = {};

beforeEach(() => {
  time = new HandTime();
  [sent, asked] = [[], []];
  answer = {};
});

function open(): FreeTokenHints {
  return new FreeTokenHints({
    hints: { hint: async (_, options = {}) => void sent.push(options) },
    store: () => ({
      readFreeTokens: async ({ sinceFence }) => {
        asked.push(sinceFence);
        if (answer === "away") throw new Error("away");
        const tokenFence = asFence(String(asked.length));
        const read = { status: "read" as const, free: 1, ready: 1, crowdedOut: false, grants: 0 };
        return { ...read, tokenFence, ...answer };
      },
    }),
    clock: time.clock,
    timers: time.timers,
  });
}

/** One enqueue after the other, each behind the quiet time of the one before. */
async function enqueueOneByOne(wakeUp: FreeTokenHints, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    await time.passTo(time.nowMs + 250);
    await wakeUp.hint("mail", { tasks: 1 });
  }
}

test("a hint isn't sent where no token is free, or no task waits any more", async () => {
  const wakeUp = open();
  answer = { free: 0, ready: 0 };
  await enqueueOneByOne(wakeUp, 3);
  answer = { free: 2, ready: 0 };
  await enqueueOneByOne(wakeUp, 1);
  expect(asked).toHaveLength(4);
  expect(sent).toEqual([]);
});

test("hints of 200 ms share a look at the tokens, which sees the tasks of all", async () => {
  const wakeUp = open();
  answer = { free: 9 };
  await wakeUp.hint("mail", { tasks: 1, traceParent: "t" });
  const following = [wakeUp.hint("mail", { tasks: 2 }), wakeUp.hint("mail", { tasks: 3 })];
  await time.passTo(1_199);
  expect(asked).toHaveLength(1);
  await time.passTo(1_200);
  await Promise.all(following);
  expect(asked).toEqual([null, "1"]);
  expect(sent).toEqual([{ tasks: 1, traceParent: "t" }, { tasks: 5 }]);
});

test("no more hints are under way than tokens are free, and each grant makes room for one", async () => {
  const wakeUp = open();
  answer = { free: 2, ready: 9 };
  await enqueueOneByOne(wakeUp, 5);
  expect(sent).toHaveLength(2);
  answer = { free: 2, ready: 9, grants: 1 };
  await enqueueOneByOne(wakeUp, 1);
  expect(sent).toHaveLength(3);
});

test("a task whose elders have been taken gets a delayed hint, as the hints under way may come to nothing", async () => {
  const wakeUp = open();
  await enqueueOneByOne(wakeUp, 2);
  expect(sent).toEqual([{ tasks: 1 }, { tasks: 1, inMs: 1_000 }]);
});

test("a hint that was sent five seconds ago holds up no other", async () => {
  const wakeUp = open();
  answer = { ready: 9 };
  await enqueueOneByOne(wakeUp, 1);
  await time.passTo(time.nowMs + 4_700);
  await enqueueOneByOne(wakeUp, 1);
  expect(sent).toHaveLength(1);
  await enqueueOneByOne(wakeUp, 1);
  expect(sent).toHaveLength(2);
});

test("a definition that is crowded out of a shared limit gets a hint a second while tasks wait", async () => {
  const wakeUp = open();
  answer = { ready: 9, crowdedOut: true };
  await enqueueOneByOne(wakeUp, 3);
  expect(sent.map(({ inMs }) => inMs)).toEqual([undefined, 1_000, 1_000]);
});

test("a definition without a limit is looked at every ten seconds, and its hints pass", async () => {
  const wakeUp = open();
  answer = { free: null, ready: 0 };
  await enqueueOneByOne(wakeUp, 40);
  expect(sent).toHaveLength(40);
  expect(asked).toHaveLength(1);
  await enqueueOneByOne(wakeUp, 2);
  expect(asked).toHaveLength(2);
});

test("a hint passes where the tokens aren't known just now, the definition isn't, or the database is away", async () => {
  const wakeUp = open();
  for (const told of [
    { free: null, ready: 0, tokenFence: null },
    { status: "unknown" as const, free: null, tokenFence: null },
    "away" as const,
  ]) {
    answer = told;
    await enqueueOneByOne(wakeUp, 2);
  }
  expect(sent).toHaveLength(6);
  expect(asked).toHaveLength(6);
});

test("a hint for later, for a schedule or of a worker that knows of free tokens passes without a look", async () => {
  const wakeUp = open();
  const passing: HintOptions[] = [
    { inMs: 5_000 },
    { forSchedule: true },
    { isForMore: true },
    { isRest: true },
    { isSure: true },
  ];
  for (const options of passing) await wakeUp.hint("mail", options);
  expect(sent).toEqual(passing);
  expect(asked).toEqual([]);
});
