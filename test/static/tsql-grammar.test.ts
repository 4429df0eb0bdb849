import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { brokenSamples } from "./tsql/broken-samples";
import { checkFile } from "./tsql/check-batch";
import { readTsqlFiles, toFile } from "./tsql/files";
import type { TsqlFile } from "./tsql/files";
import { grammarGaps, hashOf, readByGrammar } from "./tsql/grammar";
import { readSchema } from "./tsql/schema";
import { isWord, tokenise } from "./tsql/tokens";
import { keywords } from "./tsql/vocabulary";

/*
 * What can be said of T-SQL without a server and without .NET: the grammar reads it, every word of it is one we chose,
 * every name in it leads somewhere. Samples with one mistake each show that the two together see.
 * Long procedures take the grammar seconds, so it is asked only about files whose tokens have changed since
 * grammar-verdicts.json; TASKGATE_TEST_UPDATE_GRAMMAR=1 asks about all and writes that file.
 */
const files = readTsqlFiles();
const schema = readSchema(files);
const verdictsFile = join(__dirname, "tsql/grammar-verdicts.json");
const isUpdate = process.env["TASKGATE_TEST_UPDATE_GRAMMAR"] === "1";
const parser = "@dbml/core 10.2.0";

interface Verdicts {
  parser: string;
  /** Files that the grammar accepted, by the hash of their tokens. */
  accepted: Record<string, string>;
}

function readVerdicts(): Verdicts {
  if (!existsSync(verdictsFile)) return { parser, accepted: {} };
  const known = JSON.parse(readFileSync(verdictsFile, "utf8")) as Verdicts;
  return known.parser === parser ? known : { parser, accepted: {} };
}

const verdicts = readVerdicts();
const named = files.map((file) => [file.path, file] as const);

describe("the vocabulary and the names", () => {
  test("the tree is there", () => {
    expect(files.length).toBeGreaterThanOrEqual(35);
    expect([...schema.relations.keys()]).toEqual(
      expect.arrayContaining(["Taskgate.Task", "Taskgate.vExecutionLog", "Flights.Airport"]),
    );
    expect(schema.procedures.size).toBeGreaterThanOrEqual(25);
  });

  test.each(named)("%s: every word, variable, object, column and argument is known", (_, file) => {
    expect(checkFile(file, schema)).toEqual([]);
  });

  test.each(named)("%s: a word that loses a letter is found", (_, file) => {
    const missed: string[] = [];
    for (const mutant of misspell(file)) {
      if (checkFile(mutant.file, schema).length === 0) missed.push(mutant.what);
    }
    expect(missed).toEqual([]);
  });
});

describe("the grammar", () => {
  test.each(named)(
    "%s",
    (path, file) => {
      const hash = hashOf(file);
      if (!isUpdate && verdicts.accepted[path] === hash) return;
      expect(readByGrammar(file)).toBeNull();
      verdicts.accepted[path] = hash;
    },
    600_000,
  );

  test("the verdicts that are remembered are of this version of the parser and of files that exist", () => {
    const content = readFileSync(join(__dirname, "../../package.json"), "utf8");
    expect(content).toContain(`"${parser.replace(" ", '": "')}"`);
    const paths = files.map((file) => file.path);
    const gone = Object.keys(verdicts.accepted).filter((path) => !paths.includes(path));
    expect(gone).toEqual([]);
    if (isUpdate) writeFileSync(verdictsFile, `${JSON.stringify(verdicts, null, 2)}\n`);
  });

  test.each(grammarGaps.map((gap) => [gap.reason, gap] as const))(
    "a gap is still used: %s",
    (_, gap) => {
      const used = files.some((file) => file.text.search(new RegExp(gap.pattern.source)) >= 0);
      expect(used).toBe(true);
    },
  );
});

describe("samples with one mistake", () => {
  test.each(brokenSamples.map((sample) => [sample.what, sample] as const))(
    "%s is found",
    (_, sample) => {
      const shipped = files.find((file) => file.path.endsWith(sample.file));
      if (shipped === undefined) throw new Error(`there is no ${sample.file}`);
      const broken = replaceInCode(shipped, sample);
      const changed = files.map((file) => (file === shipped ? broken : file));

      const changedSchema = readSchema(changed);
      const faults = changed.flatMap((file) => checkFile(file, changedSchema));

      // The grammar is slow: it is asked when the names have nothing to say.
      const verdict = faults.length > 0 ? null : readByGrammar(broken);
      expect({ faults: faults.length, verdict }).not.toEqual({ faults: 0, verdict: null });
    },
    60_000,
  );

  test("the grammar reads what only it can find", () => {
    const [sample] = brokenSamples.filter(({ what }) => what === "an operator too many");
    const shipped = files.find((file) => file.path.endsWith(sample?.file ?? "?"));
    if (shipped === undefined || sample === undefined) throw new Error("no sample");
    expect(readByGrammar(shipped)).toBeNull();
    expect(readByGrammar(replaceInCode(shipped, sample))).toMatch(/^line \d+: /);
  });
});

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
  // What stands behind AS is a name that is made here: another one is no mistake in this file.
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
