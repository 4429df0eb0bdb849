import { describe } from "@jest/globals";

/** `npm run test:whole`, as the nightly workflow runs it: with what takes the gate too long. */
export const isWhole = process.env["TASKGATE_TEST_WHOLE"] === "1";

/** Tests of `npm run test:whole`; elsewhere they are told as skipped. */
export function describeWhole(name: string, define: () => void): void {
  (isWhole ? describe : describe.skip)(`${name} (every night: npm run test:whole)`, define);
}
