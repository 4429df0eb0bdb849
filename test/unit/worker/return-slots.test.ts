import { describe, expect, test } from "@jest/globals";
import { ReturnSlots } from "../../../shared/worker/run/return-slots";

/*
 * Messages that got no token within their wait went back until a lease might end, 30 s at most: the tokens idled until they came,
 * all together, and most of them went back again. Of 120 calls of 0.6 s at four tokens the last one ended after 55 to 86 s, where 18 s are the least.
 */

/** Served once every 300 ms, the last time at 3,000. */
function served(): ReturnSlots {
  const slots = new ReturnSlots();
  for (let atMs = 0; atMs <= 3_000; atMs += 300) slots.noteServed(atMs);
  return slots;
}

describe("a call that waited in vain comes again", () => {
  test("a call that waited in vain comes again behind those that were denied before, somewhat faster than calls are served", () => {
    const slots = served();
    expect([1, 2, 3, 4].map(() => slots.next(3_000, 0))).toEqual([0, 200, 400, 600]);
    expect(slots.next(3_500, 0)).toBe(300);
  });

  test("a call that waited in vain comes again behind those that wait", () => {
    expect(served().next(3_000, 5)).toBe(1_000);
  });

  test("later where nothing was served of late", () => {
    const slots = served();
    slots.next(9_000, 0);
    expect(slots.next(9_000, 0)).toBe(600);
  });

  test("a call that waited in vain comes again within half a minute, however many were denied", () => {
    const slots = served();
    const last = Array.from({ length: 1_000 }, () => slots.next(3_000, 0)).at(-1);
    expect(last).toBe(30_000);
  });

  test("a call that waited in vain comes again as the database says, where nothing is known of the pace", () => {
    const slots = new ReturnSlots();
    expect(slots.next(0, 0)).toBeNull();
    slots.noteServed(0);
    expect(slots.next(10, 0)).toBeNull();
  });
});

/** The last end of `calls` calls of 600 ms at four tokens, 32 at a time, each of which waits for 2 s and then comes again as told. */
function lastEndMs(
  calls: number,
  toReturnMs: (slots: ReturnSlots, nowMs: number) => number,
): number {
  const slots = new ReturnSlots();
  const ends = [0, 0, 0, 0];
  const due = Array.from({ length: calls }, () => 0);
  const waiting: number[] = [];
  let lastMs = 0;
  for (let nowMs = 0; due.length + waiting.length > 0; nowMs += 50) {
    due.sort((left, right) => left - right);
    while (waiting.length < 32 && (due[0] ?? Infinity) <= nowMs) {
      due.shift();
      waiting.push(nowMs);
    }
    for (const [token, endMs] of ends.entries()) {
      if (endMs > nowMs || waiting.shift() === undefined) continue;
      slots.noteServed(nowMs);
      ends[token] = nowMs + 600;
      lastMs = nowMs + 600;
    }
    while (waiting[0] !== undefined && nowMs - waiting[0] >= 2_000) {
      waiting.shift();
      // A storage queue counts in seconds.
      due.push(nowMs + Math.ceil(toReturnMs(slots, nowMs) / 1_000) * 1_000);
    }
  }
  return lastMs;
}

test("the tokens hardly idle until all messages of a queue are done", () => {
  const idealMs = (120 / 4) * 600;
  const fixedMs = lastEndMs(120, () => 30_000);
  const pacedMs = lastEndMs(120, (slots, nowMs) => slots.next(nowMs, 0) ?? 5_000);
  expect(fixedMs).toBeGreaterThan(2 * idealMs);
  expect(pacedMs).toBeLessThan(1.3 * idealMs);
});
