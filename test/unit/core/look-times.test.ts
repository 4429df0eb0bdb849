import { expect, test } from "@jest/globals";
import { lingerPauseMs, pollPauseMs } from "../../../shared/core/look-times";

const facts = { pollMs: 2_000, idlePolls: 0, isNotified: false, nextDueMs: null, fraction: 0.5 };

const own = { isNotified: false, isShared: false };

test("a session looks after 20 ms, after 200 ms, then every 250 ms, and ends after about two seconds", () => {
  const pauses: number[] = [];
  for (let reads = 1; ; reads += 1) {
    const pauseMs = lingerPauseMs(reads, own);
    if (pauseMs === null) break;
    pauses.push(pauseMs);
  }
  expect(pauses.slice(0, 4)).toEqual([20, 200, 250, 250]);
  expect(pauses.reduce((sum, ms) => sum + ms, 0)).toBe(1_970);
  expect(lingerPauseMs(0, own)).toBe(20);
});

test("a session looks every 250 ms only, for two seconds, where tasks tell of themselves", () => {
  const pauses = Array.from({ length: 9 }, (_, reads) =>
    lingerPauseMs(reads + 1, { ...own, isNotified: true }),
  );
  expect(pauses).toEqual([...new Array<number>(8).fill(250), null]);
  expect(lingerPauseMs(0, { ...own, isNotified: true })).toBe(250);
});

test.each([
  [false, [20, 200, null]],
  [true, [250, null]],
])(
  "a session under a shared limit ends after a quarter of a second; notified: %p",
  (isNotified, pauses) => {
    const looks = pauses.map((_, at) => lingerPauseMs(at + 1, { isNotified, isShared: true }));
    expect(looks).toEqual(pauses);
  },
);

test("the polls of a session become rarer while nothing is found, up to the longest pause", () => {
  const pauses = [0, 1, 2, 3, 4, 100].map((idlePolls) => pollPauseMs({ ...facts, idlePolls }));
  expect(pauses).toEqual([250, 500, 1_000, 2_000, 2_000, 2_000]);
});

test("polls are rare where notifications come, and spread by a fifth", () => {
  expect(pollPauseMs({ ...facts, isNotified: true })).toBe(2_000);
  expect(pollPauseMs({ ...facts, isNotified: true, fraction: 0 })).toBe(1_600);
  expect(pollPauseMs({ ...facts, isNotified: true, fraction: 1 })).toBe(2_400);
});

test("a poll comes no later than the next due instant, and not at once for one that is past", () => {
  expect(pollPauseMs({ ...facts, idlePolls: 9, nextDueMs: 70 })).toBe(70);
  expect(pollPauseMs({ ...facts, idlePolls: 9, nextDueMs: 0 })).toBe(2_000);
});
