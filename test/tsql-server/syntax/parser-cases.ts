import { expect, test } from "@jest/globals";
import type { Statement } from "./ast-statements";
import { parseStatements } from "./parser";

/** One form of the vocabulary: a text that has it, and one that has it wrong. */
export interface FormCase {
  readonly form: string;
  readonly good: string;
  /** Part of the tree of `good`'s last statement, where it isn't plain from the text. */
  readonly tree?: object;
  readonly bad: string;
  /** Part of the error of `bad`. */
  readonly error: string;
}

/** Reads both texts of each case. */
export function describeForms(cases: readonly FormCase[]): void {
  test.each(cases.map((entry) => [entry.form, entry] as const))(
    "the parser reads the form %s and refuses its broken twin",
    (_, entry) => {
      const statements = parseStatements(entry.good, "good.sql");
      expect(statements.length).toBeGreaterThan(0);
      if (entry.tree !== undefined) expect(statements.at(-1)).toMatchObject(entry.tree);
      expect(() => parseStatements(entry.bad, "bad.sql")).toThrow(entry.error);
    },
  );
}

/** The only statement of a text. */
export function parseOne(text: string): Statement {
  const [statement, second] = parseStatements(text, "one.sql");
  if (statement === undefined || second !== undefined) throw new Error("expected one statement");
  return statement;
}
