import { describe, test } from "@jest/globals";

/** `npm run test:whole`, as the nightly workflow runs it: with what takes the gate too long. */
export const isWhole = process.env["TASKGATE_TEST_WHOLE"] === "1";

const atNight = "(every night: npm run test:whole)";

/** Tests of `npm run test:whole`; elsewhere they are told as skipped. */
export function describeWhole(name: string, define: () => void): void {
  (isWhole ? describe : describe.skip)(`${name} ${atNight}`, define);
}

/** A test of `npm run test:whole`; elsewhere it is told as skipped. */
export function testWhole(
  title: string,
  body: () => Promise<void> | void,
  timeoutMs?: number,
): void {
  (isWhole ? test : test.skip)(`${title} ${atNight}`, body, timeoutMs);
}

/** Of cases that are alike: all at night, the first of them elsewhere. */
export function fewOf<Case>(cases: readonly Case[], few = 1): readonly Case[] {
  return isWhole ? cases : cases.slice(0, few);
}
