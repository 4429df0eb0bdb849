import { describe, expect, test } from "@jest/globals";
import { readFolder } from "./sql/read-sql";
import type { SqlFile } from "./sql/read-sql";

/*
 * Goal: with row versions off, too, a worker's call never waits behind another session's open enqueue. A statement that
 * reads the queues in such a call either takes the rows or passes over those that are locked.
 */
const calls = [
  "StartExecution",
  "Work",
  "FinishExecution",
  "PromoteScheduled",
  "_HasReady",
  "ReadFreeTokens",
  "_Promote",
  "_NextDueMs",
];
const queues = /Taskgate\.(?:Ready|Scheduled) AS \w+(?: WITH \(([^)]*)\))?/g;

/** Hints of every reading of a queue, as written; an insert names no alias and isn't one. */
function readHints(file: SqlFile): string[][] {
  const code = file.text.replace(/--.*$/gm, "");
  return [...code.matchAll(queues)].map((match) => (match[1] ?? "").split(/,\s*/));
}

describe("a worker's call passes over entries of the queues that are locked", () => {
  const files = [...readFolder("procedures", "mssql"), ...readFolder("functions", "mssql")];

  test.each(calls)("the call %s passes over locked entries of the queues", (name) => {
    const file = files.find((candidate) => candidate.name === name);
    const readings = file === undefined ? [] : readHints(file);

    const asks = file?.text.match(/Taskgate\._HasReady\(/g) ?? [];
    expect(readings.length + asks.length).toBeGreaterThan(0);
    const waiting = readings.filter(
      (hints) =>
        !hints.includes("UPDLOCK") &&
        !(hints.includes("READCOMMITTEDLOCK") && hints.includes("READPAST")),
    );
    expect(waiting).toEqual([]);
  });
});
