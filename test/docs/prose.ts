import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { globSync } from "tinyglobby";
import { root } from "./markdown";

/*
 * The prose of the repository, line by line: pages, comments of the product, sentences in its SQL, titles of tests. Code and
 * names in backticks are left out. What counts as private, retired, dangling or long is below.
 */

/** One file's prose; lines without any are empty, so that an index is a line of the file. */
export interface Prose {
  readonly path: string;
  readonly lines: readonly string[];
}

/** A sentence or a word that the rules refuse. */
export interface Finding {
  readonly rule: "private" | "retired" | "dangling" | "long";
  /** `path:line`; of a long sentence the path alone. */
  readonly place: string;
  readonly text: string;
}

/** Words that leave their subject open, and verbs of people where a program acts. */
const privateWords = [
  /\b(?:some|no|every|any)body\b/gi,
  /\b(?:who|what|which)ever\b/gi,
  // A question may ask so: its mark comes soon.
  /\b(?:who|what) (?:is|was|ha[sd]|holds|held|wants|waits|asks|asked|comes|came|adds|gives|stands|lies|takes|runs|ran|ends|ended|knows|reads|writes)\b(?![^.]{0,60}\?)/gi,
  /\blooks? again\b/gi,
  /\bso long\b/gi,
  /\bheed(?:s|ed)?\b/gi,
  /\bminds\b/gi,
  /\b(?:is|are|was) minded\b/gi,
  /\bthe dearest\b/gi,
];

/** A word that the glossary has another word for. */
interface RetiredWord {
  readonly pattern: RegExp;
  /** The files that it is refused in; left out: all. */
  readonly within?: RegExp;
  /** The files that may say it. */
  readonly except?: RegExp;
}

/** Committed migrations never change. */
const frozen = /\/migrations\//;

const retiredWords: readonly RetiredWord[] = [
  // Execution.
  { pattern: /\b(?:an?|the|its|one|each|another|this|same|\w+'s) stay\b|\bstays of\b/gi },
  { pattern: /\b(?:one worker|a worker|the worker|invocation)'s (?:life|lives)\b|\bsame life\b/gi },
  { pattern: /\bworkers?(?:'s?)? sessions?\b/gi, except: /^docs\/concepts\.md$/ },
  // A session is one of the database: the worker and its guide know none.
  { pattern: /\bsessions?\b/gi, within: /^shared\/worker\/|^docs\/operate\/resident-worker\.md$/ },
  // Source text.
  { pattern: /\bseeds? 00\d\b/gi, except: frozen },
  // Tokens above the limit.
  { pattern: /\bsurplus\b/gi },
  // Ended, of a task. SQL has the word in the names of its columns, and in the headers beside them.
  {
    pattern: /(?<!un)\bfinished (?:tasks?|ones?|work)\b/gi,
    within:
      /^README|^docs\/(?:guides|operate|reference\/(?!sql)|concepts|quickstart)|^shared\/(?:admin|cli|functions|local|worker\/(?:client|define))\//,
  },
  // Dashboard.
  { pattern: /\bstatus[- ]pages?\b/gi },
];

/** Numbers of promises, locks, cases and design sections: no page explains them. */
const danglingReferences = /\b[PKJGVT]\d{1,2}\b|\bdesign(?:\.md)? \d+(?:\.\d+)?/g;
/** In the product also numbers of the source texts: only titles of tests and the page of their behaviours have them. */
const danglingInProduct = /\bS[0-4](?:\.\d{1,2})?\b/g;

const wordsMax = 25;
const word = /[A-Za-z][A-Za-z'-]*/g;

/** Tracked files; where there is no git, every file that isn't generated. */
function listFiles(): string[] {
  if (!existsSync(join(root, ".git"))) {
    return globSync(["**/*"], { cwd: root, ignore: ["**/node_modules/**", "dist/**"] });
  }
  return execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" })
    .split("\n")
    .filter((path) => path !== "" && existsSync(join(root, path)));
}

/** All prose of the repository. */
export function readProse(): Prose[] {
  return listFiles().flatMap((path) => {
    const reader = readerOf(path);
    if (reader === undefined) return [];
    return [{ path, lines: reader(readFileSync(join(root, path), "utf8")) }];
  });
}

type Reader = (text: string) => string[];

function readerOf(path: string): Reader | undefined {
  if (/^(?:docs\/.*|[^/]+)\.md$/.test(path)) return readMarkdown;
  if (/^(?:functions|shared|infra)\/.*\.sql$/.test(path)) return readSql;
  if (/^(?:functions|shared|infra)\/.*\.(?:ts|js|mjs|cjs|bicep)$/.test(path)) return readComments;
  if (/^test\/.*\.(?:test|contract)\.ts$/.test(path)) return readTitles;
  return undefined;
}

/** A page without its code. */
export function readMarkdown(text: string): string[] {
  const withoutBlocks = text.replace(/```[\s\S]*?```/g, (block) => block.replace(/[^\n]/g, ""));
  return withoutBlocks.split("\n").map(withoutNames);
}

/** What follows `--` on each line, and its literals of three words and more, each as a sentence. */
export function readSql(text: string): string[] {
  return text.split("\n").map((line) => {
    const comment = /--(.*)$/.exec(line)?.[1] ?? "";
    const literals = line.replace(/--.*$/, "").matchAll(/'((?:[^']|'')*)'/g);
    const sentences = [...literals]
      .map(([, literal = ""]) => literal.replaceAll("''", "'"))
      .filter((literal) => /[a-z]+ [a-z]+ [a-z]+/.test(literal))
      .map((literal) => `. ${literal} .`);
    return withoutNames(`${comment}${sentences.join("")}`);
  });
}

/** What follows two slashes, and the lines of block comments. */
export function readComments(text: string): string[] {
  let isInside = false;
  return text.split("\n").map((line) => {
    const start = isInside ? 0 : line.indexOf("/*");
    if (start < 0) return withoutNames(/(?:^|\s)\/\/(.*)$/.exec(line)?.[1] ?? "");
    const rest = isInside ? line : line.slice(start + 2);
    isInside = !rest.includes("*/");
    return withoutNames(rest.replace(/\*\/.*$/, "").replace(/^\s*\*+\s?/, ""));
  });
}

/** The titles of tests and of their groups, also where they stand on the line behind the call. */
export function readTitles(text: string): string[] {
  const lines = text.split("\n").map(() => "");
  const calls = /(?:\b(?:it|test|describe)(?:\.\w+)*|\))\(\s*(["'`])((?:\\.|(?!\1).)*)\1\s*,/g;
  for (const match of text.matchAll(calls)) {
    const place = text.slice(0, match.index).split("\n").length - 1;
    lines[place] = match[2] ?? "";
  }
  return lines;
}

function withoutNames(line: string): string {
  return line.replace(/`[^`]*`/g, "x");
}

/** How many words. */
export function countWords(prose: readonly Prose[]): number {
  return prose
    .flatMap(({ lines }) => lines)
    .reduce((sum, line) => sum + (line.match(word)?.length ?? 0), 0);
}

/** Everything that the rules refuse, in the order of the files. */
export function findIn(prose: readonly Prose[]): Finding[] {
  return prose.flatMap(({ path, lines }) => [
    ...lines.flatMap((line, index) => findInLine({ path, line, number: index + 1 })),
    ...sentencesOf(lines)
      .filter((sentence) => (sentence.match(word)?.length ?? 0) > wordsMax)
      .map((text): Finding => ({ rule: "long", place: path, text })),
  ]);
}

function findInLine({
  path,
  line,
  number,
}: {
  path: string;
  line: string;
  number: number;
}): Finding[] {
  const place = `${path}:${String(number)}`;
  const found = (rule: Finding["rule"], patterns: readonly RegExp[]): Finding[] =>
    patterns.flatMap((pattern) => line.match(pattern) ?? []).map((text) => ({ rule, place, text }));
  const retired = retiredWords.filter(
    ({ within, except }) => within?.test(path) !== false && except?.test(path) !== true,
  );
  return [
    ...found("private", privateWords),
    ...found(
      "retired",
      retired.map(({ pattern }) => pattern),
    ),
    ...found(
      "dangling",
      path.startsWith("shared/") ? [danglingReferences, danglingInProduct] : [danglingReferences],
    ),
  ];
}

/** Cells of tables, items of lists and headings are sentences of their own; so is what an empty line parts. */
function sentencesOf(lines: readonly string[]): string[] {
  const text = lines.map((line) => {
    if (/^\s*\|/.test(line)) return `. ${line.replaceAll("|", " . ")} .`;
    return /^\s*(?:[#>-]|\d+\.)/.test(line) ? `. ${line} .` : line || ".";
  });
  return text
    .join(" ")
    .split(/[.!?:;](?=\s|$)/)
    .map((sentence) => sentence.trim().replace(/\s+/g, " "));
}
