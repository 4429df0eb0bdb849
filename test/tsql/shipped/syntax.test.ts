import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { globSync } from "tinyglobby";
import ts from "typescript";
import { brokenSamples } from "../../static/tsql/broken-samples";
import { checkFile } from "../../static/tsql/check-batch";
import { readTsqlFiles, toFile } from "../../static/tsql/files";
import type { TsqlFile } from "../../static/tsql/files";
import { readSchema } from "../../static/tsql/schema";
import { tokenise } from "../../tsql-server/syntax/lexer";
import type { Token } from "../../tsql-server/syntax/lexer";
import { parseScript } from "../../tsql-server/syntax/parser";
import { reservedWords } from "../../tsql-server/syntax/reserved-words";

/*
 * The parser against everything that is sent to a server from here: it must read all of it, and must read none of it once
 * a word or a parenthesis is damaged.
 */
const root = join(__dirname, "../../..");
const files = readTsqlFiles();

/** What the parser has against a text, or null. */
function verdictOn(text: string, fileName: string): string | null {
  try {
    parseScript(text, fileName);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

describe("files", () => {
  test("the files are all there", () => {
    expect(files.length).toBeGreaterThanOrEqual(35);
  });

  test.each(files.map((file) => [file.path, file] as const))("%s is read", (path, file) => {
    const batches = parseScript(file.text, path);
    expect(batches.map(({ line }) => line)).toEqual(file.batches.map(({ line }) => line));
  });

  test("scripts to run by hand are read", () => {
    const paths = globSync("shared/store/mssql/*.sql", { cwd: root });
    expect(paths.length).toBeGreaterThan(0);
    for (const path of paths) {
      expect(verdictOn(readFileSync(join(root, path), "utf8"), path)).toBeNull();
    }
  });
});

/** The sign of a value that is put into a text; a number for all others. */
const substitutes: Readonly<Record<string, string>> = {
  "row.Kind": "PROCEDURE",
  name: "Taskgate.X",
  'earlier.join(", ")': "A = 1",
};

/** Texts of a TypeScript file that begin like T-SQL; keywords in capitals tell them from PostgreSQL's. */
function listStatements(path: string): string[] {
  const source = ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.ES2023);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    const text = textOf(node, source);
    const isStatement = /^\s*(?:SELECT|INSERT|UPDATE|DELETE|EXEC|DECLARE|SET|ALTER|DROP|WITH) /;
    // A test puts a number in place of {task} and the like before it sends a text.
    if (text !== undefined && isStatement.test(text)) found.push(text.replace(/\{\w+\}/g, "1"));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function textOf(node: ts.Node, source: ts.SourceFile): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return undefined;
  return node.templateSpans.reduce((text, { expression, literal }) => {
    return text + (substitutes[expression.getText(source)] ?? "1") + literal.text;
  }, node.head.text);
}

describe("statements in TypeScript", () => {
  const paths = globSync(
    // The contract suite's own statements are put together as it runs, and run on the engine.
    ["shared/store/mssql/*.ts", "functions/tasks/**/*.ts", "test/support/mssql-setup.ts"],
    { cwd: root, absolute: true },
  );
  const statements = paths.flatMap((path) =>
    listStatements(path).map((text) => ({ path: relative(root, path), text })),
  );

  test("the statements in TypeScript are all found", () => {
    expect(statements.length).toBeGreaterThanOrEqual(25);
    expect(statements.map(({ text }) => text).join("\n")).toContain("sys.sp_getapplock");
  });

  test.each(statements.map(({ path, text }) => [path, text.slice(0, 60), text] as const))(
    "the statement of %s is read: %s",
    (path, _, text) => {
      expect(verdictOn(text, path)).toBeNull();
    },
  );

  test("the statements that the driver sends when it connects can be read", () => {
    const settings = [
      "ansi_nulls on",
      "ansi_null_dflt_on on",
      "ansi_padding on",
      "ansi_warnings on",
      "arithabort on",
      "concat_null_yields_null on",
      "cursor_close_on_commit off",
      "datefirst 7",
      "dateformat mdy",
      "implicit_transactions off",
      "language us_english",
      "numeric_roundabort off",
      "quoted_identifier on",
      "textsize 2147483647",
      "transaction isolation level read committed",
      "xact_abort off",
    ];
    const text = settings.map((setting) => `set ${setting}`).join("\n");
    expect(verdictOn(text, "driver")).toBeNull();
  });
});

/** A file with one token replaced. */
function replaceToken(file: TsqlFile, token: Token, replacement: string): string {
  return file.text.slice(0, token.start) + replacement + file.text.slice(token.end);
}

/** Without NULL: in most places a misspelt one is the name of a column. */
function isKeyword({ kind, upper }: Token): boolean {
  return kind === "word" && upper !== "NULL" && reservedWords.has(upper);
}

describe("damage is found", () => {
  // Each keyword in the shortest file that has it, at its first place and its last.
  const keywords = new Map<string, { file: TsqlFile; tokens: Token[] }>();
  for (const file of [...files].sort((a, b) => a.text.length - b.text.length)) {
    const seen = new Map<string, Token[]>();
    for (const token of tokenise(file.text, file.path).filter(isKeyword)) {
      if (token.upper.length > 1 && !keywords.has(token.upper)) {
        seen.set(token.upper, [...(seen.get(token.upper) ?? []), token]);
      }
    }
    for (const [word, tokens] of seen) keywords.set(word, { file, tokens });
  }

  test("the files have many keywords", () => {
    expect(keywords.size).toBeGreaterThanOrEqual(80);
  });

  test.each([...keywords].map(([word, place]) => [word, place] as const))(
    "the damage of %s that has lost a letter is found",
    (word, { file, tokens }) => {
      for (const token of new Set([tokens[0], tokens.at(-1)])) {
        if (token === undefined) continue;
        const damaged = replaceToken(file, token, word.slice(0, -2) + word.slice(-1));
        expect(verdictOn(damaged, file.path)).toMatch(/: /);
      }
    },
  );

  test.each(files.map((file) => [file.path, file] as const))(
    "the damage of %s without one of its parentheses is found",
    (path, file) => {
      const parentheses = tokenise(file.text, path).filter(
        ({ text }) => text === "(" || text === ")",
      );
      const step = Math.max(1, Math.floor(parentheses.length / 6));
      for (let index = 0; index < parentheses.length; index += step) {
        const token = parentheses[index];
        if (token === undefined || token.kind !== "symbol") continue;
        expect(verdictOn(replaceToken(file, token, " "), path)).not.toBeNull();
      }
    },
  );
});

describe("samples with one mistake", () => {
  /** These are mistakes of names, case and declarations: the check of names finds them, no grammar does. */
  const byNames = new Set<string>([
    "an undeclared variable",
    "a variable in the wrong case",
    "a variable that is used before it is declared",
    "an unknown column",
    "a column in the wrong case",
    "a column of another table",
    "an unknown column in SET",
    "an unknown alias",
    "an alias of an inner query used outside",
    "an unknown table",
    "an unknown procedure",
    "an unknown table type",
    "a wrong parameter name",
    "a parameter that is left out",
    "OUTPUT left out of a call",
    "our function with too many arguments",
    "an index of another table in a hint",
    "an index over a column that isn't there",
    "a right on an object that isn't there",
    "a keyword in the wrong case",
  ]);
  const schema = readSchema(files);

  test.each(brokenSamples.map((sample) => [sample.what, sample] as const))(
    "the mistake is found: %s",
    (what, sample) => {
      const shipped = files.find((file) => file.path.endsWith(sample.file));
      if (shipped === undefined) throw new Error(`there is no ${sample.file}`);
      const code = shipped.text.replace(/--[^\n]*/g, (comment) => " ".repeat(comment.length));
      const at = code.indexOf(sample.from);
      expect(at).toBeGreaterThanOrEqual(0);
      const text = code.slice(0, at) + sample.to + code.slice(at + sample.from.length);

      const isFoundHere = verdictOn(text, sample.file) !== null;

      expect(isFoundHere).toBe(!byNames.has(what));
      if (isFoundHere) return;
      const broken = toFile(shipped.path, text);
      const changed = files.map((file) => (file === shipped ? broken : file));
      const changedSchema = readSchema(changed);
      expect(changed.flatMap((file) => checkFile(file, changedSchema)).length).toBeGreaterThan(0);
    },
  );

  test("names are read without faults where nothing is broken", () => {
    expect(files.flatMap((file) => checkFile(file, schema))).toEqual([]);
  });
});
