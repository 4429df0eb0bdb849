import { expect, test } from "@jest/globals";
import { EarliestTimer } from "../../../shared/worker/run/earliest-timer";
import { VirtualTime } from "../../workers/virtual-time";

/** A timer on virtual time: when it ended, and the instants that it stood at. */
function openTimer() {
  const time = new VirtualTime();
  const ended: { readonly nowMs: number; readonly atMs: number }[] = [];
  const timer = new EarliestTimer(
    time.parts,
    (atMs) => void ended.push({ nowMs: time.nowMs, atMs }),
  );
  return { time, timer, ended };
}

test("instants that are asked for more often than the timer ends don't put it off", async () => {
  const { time, timer, ended } = openTimer();
  const ask = (): void => {
    timer.set(time.nowMs + 1_000);
    time.after(300, ask);
  };
  ask();
  await time.run(10_000);
  // At most 300 ms pass until the next ask.
  expect(ended.length).toBeGreaterThanOrEqual(Math.floor(10_000 / 1_300));
  expect(ended.every(({ nowMs, atMs }) => nowMs === atMs)).toBe(true);
});

test("an earlier instant takes the place of a later one, which is forgotten", async () => {
  const { time, timer, ended } = openTimer();
  timer.set(1_000);
  timer.set(400);
  timer.set(700);
  timer.set(Number.POSITIVE_INFINITY);
  await time.run(5_000);
  expect(ended).toEqual([{ nowMs: 400, atMs: 400 }]);
});

test("an instant that is over ends the timer as soon as may be, and tells when it was", async () => {
  const { time, timer, ended } = openTimer();
  await time.run(1_000);
  timer.set(250);
  await time.run(1_001);
  expect(ended).toEqual([{ nowMs: 1_000, atMs: 250 }]);
});

test("a timer that was taken back doesn't end, and can be set to a later instant", async () => {
  const { time, timer, ended } = openTimer();
  timer.set(100);
  timer.cancel();
  timer.set(200);
  await time.run(5_000);
  expect(ended).toEqual([{ nowMs: 200, atMs: 200 }]);
});
