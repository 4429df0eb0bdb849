import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { shippedWorld } from "../shipped/shipped-world";
import { engines } from "../shipped/engines";
import { heldRows, recordOf } from "./held-rows";
import { rowCases } from "./operation-cases";

/*
 * Which rows each operation waits for, and in which order it asks: what the Locks line of its header says in words, as figures
 * that are recorded. A change that is meant: TASKGATE_TEST_UPDATE_WAITS=1 npx jest -c test/jest.config.cjs held-rows.
 */

const file = join(__dirname, "expected-waits.txt");
const shipped = shippedWorld(engines.versioned);
const found = new Map(
  rowCases().map((operation) => [operation.name, recordOf(heldRows(operation, shipped))]),
);
if (process.env["TASKGATE_TEST_UPDATE_WAITS"] === "1") writeFileSync(file, `${toLines(found)}\n`);
const recorded = readFileSync(file, "utf8").trimEnd();
const expected = new Map(recorded.split(/\n(?! )/).map(toOperation));

/** Operations, each with what it does about rows in lines of their own, two blanks from the left. */
function toLines(operations: ReadonlyMap<string, readonly string[]>): string {
  return [...operations].map(([name, lines]) => [name, ...lines].join("\n  ")).join("\n");
}

function toOperation(part: string): [string, string[]] {
  const [name = "", ...lines] = part.split("\n  ");
  return [name, lines];
}

describe("a row that another connection holds", () => {
  test.each([...found])(
    "a row that another connection holds makes %s wait, or go on without it, as recorded",
    (name, lines) => {
      expect(lines).toEqual(expected.get(name));
    },
  );

  test("the held rows are recorded for the operations that there are, in their order, and for nothing else", () => {
    expect([...expected.keys()]).toEqual([...found.keys()]);
  });
});
