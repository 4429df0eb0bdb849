import { describe } from "@jest/globals";

/** `npm run test:tsql`, as the nightly workflow runs it: with what takes the gate too long. */
export const isWholeTsql = process.env["TASKGATE_TEST_TSQL_WHOLE"] === "1";

/** Tests of `npm run test:tsql`; elsewhere they are told as skipped. */
export function describeWholeTsql(name: string, define: () => void): void {
  (isWholeTsql ? describe : describe.skip)(`${name} (every night: npm run test:tsql)`, define);
}
