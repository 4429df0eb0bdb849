import type { TryCatch } from "../syntax/ast-statements";
import type { Mutant } from "./mutants";
import { isSetting, statementsIn } from "./statements";

/** Why nobody could see what a mutant changes, where that holds for all edits of its form; undefined: it doesn't. */
export function whyEquivalent(mutant: Mutant): string | undefined {
  return rules.find(({ isMeant }) => isMeant(mutant))?.reason;
}

interface Rule {
  readonly reason: string;
  isMeant(mutant: Mutant): boolean;
}

const rules: readonly Rule[] = [
  {
    reason:
      "ROWLOCK only keeps page locks away. The tables forbid those (ALLOW_PAGE_LOCKS = OFF), and the model has none (L17).",
    isMeant: (mutant) =>
      mutant.kind === "hint" && /^\W*(?:WITH\W*)?ROWLOCK\W*$/.test(cutBy(mutant)),
  },
  {
    reason:
      "Every caller of this procedure has set the same, and what a caller sets holds inside [doc: SET Statements].",
    isMeant: ({ kind, source, statementId }) =>
      (kind === "option" || kind === "write" || kind === "number") &&
      source.name.startsWith("procedures/_") &&
      source.statements.some(
        ({ statement }) => statement.statementId === statementId && isSetting(statement),
      ),
  },
  {
    reason:
      "The TRY begins with BEGIN TRANSACTION, and nothing behind its end can fail: CATCH always finds a transaction to roll back.",
    isMeant: (mutant) =>
      mutant.kind === "condition" &&
      cutBy(mutant) === "XACT_STATE() <> 0" &&
      tryAround(mutant)?.body[0]?.kind === "begin",
  },
  {
    reason:
      "The transaction has locked the row before, or the one that guards it, as the statement's comment says: nobody else can touch it meanwhile.",
    isMeant: (mutant) =>
      mutant.kind === "hint" &&
      /^[\s(),]*(?:WITH|ROWLOCK|UPDLOCK|HOLDLOCK|[\s(),])+$/.test(cutBy(mutant)) &&
      /-- .*\bours (?:already|by the execution's row)/.test(lineOf(mutant)),
  },
];

/** The line where a mutant begins, with its comment. */
function lineOf({ source, line }: Mutant): string {
  return source.text.split("\n")[line - 1] ?? "";
}

/** The TRY whose CATCH holds the statement that a mutant changes. */
function tryAround({ source, statementId }: Mutant): TryCatch | undefined {
  return source.batch.statements
    .flatMap(statementsIn)
    .filter((statement) => statement.kind === "tryCatch")
    .find(({ handler }) =>
      handler.flatMap(statementsIn).some((inner) => inner.statementId === statementId),
    );
}

/** The text that a mutant cuts out. */
function cutBy({ source, edits }: Mutant): string {
  return edits.map((edit) => source.textOf(edit)).join(" ");
}
