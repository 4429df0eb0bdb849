import { expect, test } from "@jest/globals";
import { ClaimOutlook } from "../../../shared/worker/run/claim-outlook";
import type { LoopOptions } from "../../../shared/worker/run/loop-options";

/* Goal: a pause is over when an answer says so and at no other time; an arrival, as a resume is one, makes the execution ask. */
function openOutlook() {
  const time = { nowMs: 1_000 };
  const options = {
    environment: { clock: { monotonicMs: () => time.nowMs } },
    definition: { settings: {} },
  } as unknown as LoopOptions;
  const outlook = new ClaimOutlook(options);
  const at = (ms: number): ClaimOutlook => {
    time.nowMs = ms;
    return outlook;
  };
  const standing = (): string =>
    outlook.isPaused ? (outlook.mayBeResumed ? "paused, to be asked" : "paused") : "open";
  return { at, standing };
}

test("an arrival in a pause lets the execution ask, and start nothing", () => {
  const { at, standing } = openOutlook();
  at(1_100).notePaused(true, 1_050);
  expect(standing()).toBe("paused");
  at(1_200).noteArrival();
  expect(standing()).toBe("paused, to be asked");
  at(1_300).notePaused(true, 1_250);
  expect(standing()).toBe("paused");
  at(1_400).noteArrival();
  at(1_500).notePaused(false, 1_450);
  expect(standing()).toBe("open");
});

test("an answer to a call from before the arrival doesn't say that the pause goes on", () => {
  const { at, standing } = openOutlook();
  at(1_100).noteArrival();
  at(1_200).notePaused(true, 1_050);
  expect(standing()).toBe("paused, to be asked");
});

test("an arrival without a pause is no pause", () => {
  const { at, standing } = openOutlook();
  at(1_100).noteArrival();
  expect(standing()).toBe("open");
});
