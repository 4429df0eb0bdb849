import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { shippedWorld } from "../engine/load";
import { engines } from "../engine/options";
import { heldRows } from "./held-rows";
import { rowCases } from "./operation-cases";

/*
 * Whom each operation waits for, and in which order it asks: what the Locks line of its header says in words, as figures that
 * are recorded. A change that is meant: TASKGATE_TEST_UPDATE_WAITS=1 npx jest -c test/jest.config.cjs held-rows.
 */

const file = join(__dirname, "expected-waits.json");
const shipped = shippedWorld(engines.versioned);
const found = Object.fromEntries(
  rowCases().map((operation) => [operation.name, heldRows(operation, shipped)]),
);
if (process.env["TASKGATE_TEST_UPDATE_WAITS"] === "1") {
  writeFileSync(file, `${JSON.stringify(found, null, 2)}\n`);
}
const expected = JSON.parse(readFileSync(file, "utf8")) as Readonly<Record<string, string[]>>;

describe("somebody holds a row", () => {
  test.each(Object.entries(found))("%s waits, or goes on without, as recorded", (name, lines) => {
    expect(lines).toEqual(expected[name]);
  });

  test("nothing is recorded that isn't an operation", () => {
    expect(Object.keys(expected)).toEqual(Object.keys(found));
  });
});
