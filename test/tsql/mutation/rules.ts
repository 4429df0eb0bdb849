import type { Span, TryCatch } from "../../tsql-server/syntax/ast-statements";
import type { Mutant } from "./mutants";
import { namesWholeKey } from "./whole-keys";
import { isSetting, statementsIn } from "./statements";
import { isTie } from "./ties";

/** Why a mutant's change is invisible, where that holds for all edits of its form; undefined: it doesn't. */
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
      isSaidToBeOurs(lineOf(mutant)),
  },
  {
    reason:
      "The row is found by its whole key: the seek reads one row, and no plan is cheaper (docs/internals/tsql-simulation.md, Other plans). Which index the lock is on is the same then.",
    isMeant: (mutant) =>
      mutant.kind === "hint" &&
      /^[\s(),]*(?:WITH\W*)?INDEX\s*\(\w+\)[\s(),]*$/.test(cutBy(mutant)) &&
      namesWholeKey(mutant),
  },
  {
    reason:
      "The row is found by its whole key, and the transaction has locked it before, as the statement's comment says.",
    isMeant: (mutant) =>
      mutant.kind === "hint" &&
      /^[\s(),]*(?:WITH|ROWLOCK|UPDLOCK|HOLDLOCK|INDEX\s*\(\w+\)|[\s(),])+$/.test(cutBy(mutant)) &&
      isSaidToBeOurs(lineOf(mutant)) &&
      namesWholeKey(mutant),
  },
  {
    reason:
      "Every task's rank is 0: no operation writes another one, it is only copied from place to place (rules.test.ts looks). No index serves the order of a table variable here.",
    isMeant: (mutant) => mutant.kind === "order" && isRankOfVariable(mutant),
  },
  {
    reason:
      "Both delete rows that the transaction has locked before, as their comments say, each by its whole key: neither waits for anybody, and nobody sees the one without the other.",
    isMeant: (mutant) =>
      mutant.kind === "swap" && mutant.edits.every((edit) => deletesOurs(mutant, edit)),
  },
  {
    reason: "Where two numbers or instants are equal, either arm of the CASE says the same.",
    isMeant: (mutant) => mutant.kind === "comparison" && isTie(mutant),
  },
  {
    reason:
      "A definition is found by its id, and no operation deletes one (rules.test.ts looks): there is no place to be kept free, and UPDLOCK keeps the row to the end by itself.",
    isMeant: (mutant) =>
      mutant.kind === "hint" && /^\W*HOLDLOCK\W*$/.test(cutBy(mutant)) && isDefinition(mutant),
  },
];

/** The sign of a lock that is held already. */
function isSaidToBeOurs(line: string): boolean {
  return /-- .*\b(?:ours (?:already|by the [\w']+ row)|(?:who has|the holder of) the \w+(?:'s)? row (?:has this one|owns this one|may write it))/.test(
    line,
  );
}

function deletesOurs({ source }: Mutant, edit: Span): boolean {
  const text = source.textOf(edit);
  return /^DELETE \w+\s+FROM @v\w+ AS \w+\s+INNER JOIN [^@]* -- ours already\n[^@]*$/.test(text);
}

/** Is it a definition, asked for by its id and nothing else, with UPDLOCK? */
function isDefinition(mutant: Mutant): boolean {
  const { source } = mutant;
  const lines = source.text.split("\n").slice(mutant.line - 1, mutant.line + 1);
  return /FROM Taskgate\.TaskDefinition AS (\w+) WITH \((?:ROWLOCK, )?UPDLOCK, HOLDLOCK\)[^\n]*\n\s+WHERE \1\.TaskDefinitionId = @\w+;/.test(
    lines.join("\n"),
  );
}

function isRankOfVariable(mutant: Mutant): boolean {
  const alias = /^,?\s*(\w+)\.Rank(?: DESC)?$/.exec(itemOf(mutant))?.[1];
  const [edit] = mutant.edits;
  const placed = edit && mutant.source.statementAt(edit);
  if (alias === undefined || placed === undefined) return false;
  return new RegExp(`FROM @v\\w+ AS ${alias}\\b`).test(mutant.source.textOf(placed.span));
}

/** The item of an ORDER BY that a mutant drops or turns. */
function itemOf({ source, edits }: Mutant): string {
  const [edit] = edits;
  if (edit === undefined) return "";
  const cut = source.textOf(edit).trim();
  if (cut !== "" && cut !== "DESC") return cut.replace(/,$/, "");
  const before = source.text.slice(0, edit.start);
  return /\w+\.\w+$/.exec(before)?.[0] ?? "";
}

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
