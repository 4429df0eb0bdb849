import { describe, expect, test } from "@jest/globals";
import { diffOf } from "./edits";
import { listMutants } from "./mutants";
import type { MutantKind } from "./mutants";
import { whyEquivalent } from "./rules";
import { readSources, Source } from "./source";

/* Edits that nobody could see, told by their form: exactly those, and each rule is still needed. */

function procedure(name: string, ...lines: string[]): Source {
  const body = lines.map((line) => `  ${line}\n`).join("");
  const head = `CREATE OR ALTER PROCEDURE Taskgate.${name} @Id int AS\nBEGIN\n`;
  return new Source(`procedures/${name}.sql`, `${head}${body}END;\n`);
}

/** What the edits of one kind make, explained ones only. */
function explained(source: Source, kind: MutantKind): string[] {
  return listMutants(source)
    .filter((mutant) => mutant.kind === kind && whyEquivalent(mutant) !== undefined)
    .map((mutant) => {
      const added = diffOf(source, mutant.edits).filter((line) => line.startsWith("+"));
      return added.map((line) => line.slice(2)).join(" / ");
    });
}

describe("rules", () => {
  test("ROWLOCK may go, other hints may not", () => {
    const source = procedure("P", "DELETE r FROM T.R AS r WITH (ROWLOCK, UPDLOCK) WHERE r.A = 1;");

    expect(explained(source, "hint")).toEqual([
      "DELETE r FROM T.R AS r WITH (UPDLOCK) WHERE r.A = 1;",
    ]);
  });

  test("locks may go where the comment says that the row is locked already; a forced index may not", () => {
    const source = procedure(
      "P",
      "DELETE r",
      "FROM T.R AS r WITH (UPDLOCK, FORCESEEK) -- the row is ours already",
      "WHERE r.A = 1;",
      "DELETE r",
      "FROM T.R AS r WITH (UPDLOCK, FORCESEEK) -- the row as it is now",
      "WHERE r.A = 1;",
    );

    expect(explained(source, "hint")).toEqual([
      "FROM T.R AS r WITH (FORCESEEK) -- the row is ours already",
    ]);
  });

  test("settings may go in what is called by procedures only", () => {
    const lines = ["SET NOCOUNT, XACT_ABORT ON;", "SET LOCK_TIMEOUT 2000;"];

    expect(explained(procedure("_P", ...lines), "write")).toHaveLength(2);
    expect(explained(procedure("P", ...lines), "write")).toEqual([]);
  });

  test("a CATCH need not ask for a transaction that its TRY begins with", () => {
    const handler = [
      "END TRY",
      "BEGIN CATCH",
      "  IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;",
      "  THROW;",
      "END CATCH;",
    ];
    const early = procedure(
      "P",
      "BEGIN TRY",
      "  BEGIN TRANSACTION;",
      "  DELETE FROM T.R;",
      ...handler,
    );
    const late = procedure("P", "BEGIN TRY", "  SELECT @Id = A FROM T.R;", ...handler);

    expect(explained(early, "condition")).toEqual(["IF 1 = 1 ROLLBACK TRANSACTION;"]);
    expect(explained(late, "condition")).toEqual([]);
  });

  test("each rule explains something that is shipped", () => {
    const reasons = new Set(
      readSources()
        .flatMap(listMutants)
        .flatMap((one) => whyEquivalent(one) ?? []),
    );

    expect(reasons.size).toBe(4);
  });
});
