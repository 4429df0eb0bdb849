import { describe, expect, test } from "@jest/globals";
import { brokenSamples } from "./tsql/broken-samples";
import { checkFile } from "./tsql/check-batch";
import { hasSample } from "../support/sample";
import { readTsqlFiles, toFile } from "./tsql/files";
import type { TsqlFile } from "./tsql/files";
import { readSchema } from "./tsql/schema";
import { isWord, tokenise } from "./tsql/tokens";
import { keywords } from "./tsql/vocabulary";
import { parseScript } from "../tsql-server/syntax/parser";
import { TsqlSyntaxError } from "../tsql-server/syntax/syntax-error";

/*
 * What can be said of T-SQL without a server and without .NET: the simulation's strict parser reads it, every word of it
 * is one we chose, every name in it leads somewhere. Samples with one mistake each show that the two together see.
 */
const files = readTsqlFiles();
const schema = readSchema(files);
const named = files.map((file) => [file.path, file] as const);

describe("the vocabulary and the names", () => {
  test("the tree is there", () => {
    expect(files.length).toBeGreaterThanOrEqual(35);
    expect([...schema.relations.keys()]).toEqual(
      expect.arrayContaining([
        "Taskgate.Task",
        "Taskgate.vExecutionLog",
        ...(hasSample ? ["Flights.Airport"] : []),
      ]),
    );
    expect(schema.procedures.size).toBeGreaterThanOrEqual(25);
  });

  test.each(named)(
    "every word, variable, object, column and argument of %s is known",
    (_, file) => {
      expect(checkFile(file, schema)).toEqual([]);
    },
  );

  test.each(named)("a word of %s that loses a letter is found", (_, file) => {
    const missed: string[] = [];
    for (const mutant of misspell(file)) {
      if (checkFile(mutant.file, schema).length === 0) missed.push(mutant.what);
    }
    expect(missed).toEqual([]);
  });
});

describe("the grammar", () => {
  test.each(named)("the grammar reads %s", (_, file) => {
    expect(readByGrammar(file)).toBeNull();
  });
});

describe("samples with one mistake", () => {
  test.each(brokenSamples.map((sample) => [sample.what, sample] as const))(
    "%s is found",
    (_, sample) => {
      const shipped = files.find((file) => file.path.endsWith(sample.file));
      if (shipped === undefined) throw new Error(`there is no ${sample.file}`);
      const broken = replaceInCode(shipped, sample);
      const changed = files.map((file) => (file === shipped ? broken : file));
      expect(readByGrammar(broken) !== null || hasFault(broken, changed)).toBe(true);
    },
  );

  test("the grammar reads what only it can find", () => {
    const [sample] = brokenSamples.filter(({ what }) => what === "an operator too many");
    const shipped = files.find((file) => file.path.endsWith(sample?.file ?? "?"));
    if (shipped === undefined || sample === undefined) throw new Error("no sample");
    expect(readByGrammar(shipped)).toBeNull();
    expect(readByGrammar(replaceInCode(shipped, sample))).toMatch(/:\d+: /);
  });
});

/** Most mistakes are seen in their own file, and the others are spared then. */
function hasFault(broken: TsqlFile, all: readonly TsqlFile[]): boolean {
  const changed = readSchema(all);
  return [broken, ...all].some((file) => checkFile(file, changed).length > 0);
}

/** The error, with file and line; null: none. */
function readByGrammar(file: TsqlFile): string | null {
  try {
    parseScript(file.text, file.path);
    return null;
  } catch (error) {
    if (error instanceof TsqlSyntaxError) return error.message;
    throw error;
  }
}

/** The first place outside comments. */
function replaceInCode(file: TsqlFile, edit: { from: string; to: string }): TsqlFile {
  const text = file.text.replace(/--[^\n]*/g, (comment) => " ".repeat(comment.length));
  const at = text.indexOf(edit.from);
  if (at < 0) throw new Error(`${file.path} has no ${JSON.stringify(edit.from)}`);
  return toFile(file.path, text.slice(0, at) + edit.to + text.slice(at + edit.from.length));
}

/** Some twenty copies of a file, each with one bare word that has lost its last letter. */
function* misspell(file: TsqlFile): Generator<{ what: string; file: TsqlFile }> {
  const text = file.text.replace(/--[^\n]*/g, (comment) => " ".repeat(comment.length));
  // The word behind AS is a new name: an unknown one is no mistake in this file.
  const words = tokenise(text).filter(
    (token, index, all) =>
      token.kind === "word" && token.text.length > 3 && !isWord(all[index - 1], "AS"),
  );
  const step = Math.max(1, Math.floor(words.length / 20));
  for (let index = 0; index < words.length; index += step) {
    const word = words[index];
    // A keyword that is another keyword without its last letter is the grammar's business.
    if (word === undefined || keywords.has(word.text.slice(0, -1))) continue;
    const lines = text.split("\n");
    const line = lines[word.line - 1] ?? "";
    const mutant = line.replace(new RegExp(`\\b${word.text}\\b`), word.text.slice(0, -1));
    lines[word.line - 1] = mutant;
    yield {
      what: `line ${String(word.line)}: ${word.text}`,
      file: toFile(file.path, lines.join("\n")),
    };
  }
}
