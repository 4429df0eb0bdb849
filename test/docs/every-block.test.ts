import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { globSync } from "tinyglobby";
import ts from "typescript";
import { judgedBlocks } from "./judged-blocks";
import type { JudgedBlock } from "./judged-blocks";
import { readBlocks, root } from "./markdown";
import type { CodeBlock } from "./markdown";
import { commandsOf } from "./paste-shell";

/*
 * Goal: no block of code in any page is there for show. Each is named by a `testBlocksRan`, whose own test fails where the block hasn't run, or stands
 * in judged-blocks.ts with the file that judges it and the reason.
 */
/** Blocks that nothing runs: data, output, and fragments of files that other tests read. A block of any other language is code. */
const notCode = ["", "text", "json", "kql", "bicep", "dockerfile"];

const find = (...patterns: string[]): string[] =>
  globSync(patterns, { cwd: root, dot: true, ignore: ["**/node_modules/**"] });

const placesOf = (page: string): string[] =>
  readBlocks(page)
    .filter(({ language }) => !notCode.includes(language))
    .map(({ marker, line }) => `${page} ${marker ?? `line ${String(line)}, without a marker`}`);

const places = find("*.md", "{.ci,.github,docs,functions,infra,shared,test}/**/*.md").flatMap(
  placesOf,
);

/** The places in the calls of `testBlocksRan` of a test file: texts, or names of its constants. */
function placesRunBy(file: string): string[] {
  const text = readFileSync(join(root, file), "utf8");
  if (!text.includes("testBlocksRan([")) return [];
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2023);
  const constants = new Map<string, string>();
  const found: string[] = [];
  const textOf = (node: ts.Expression | undefined): string => {
    if (node !== undefined && ts.isStringLiteral(node)) return node.text;
    const name = node !== undefined && ts.isIdentifier(node) ? node.text : "";
    const value = constants.get(name);
    if (value === undefined) throw new Error(`${file}: expected a text or a constant (${name})`);
    return value;
  };
  for (const statement of source.statements) {
    if (ts.isVariableStatement(statement))
      for (const { name, initializer } of statement.declarationList.declarations)
        if (ts.isIdentifier(name) && initializer !== undefined && ts.isStringLiteral(initializer))
          constants.set(name.text, initializer.text);
  }
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && ts.isIdentifier(node.expression))
      if (node.expression.text === "testBlocksRan") found.push(...placesIn(node.arguments[0]));
    ts.forEachChild(node, visit);
  };
  const placesIn = (list: ts.Expression | undefined): string[] => {
    if (list === undefined || !ts.isArrayLiteralExpression(list))
      throw new Error(`${file}: expected a list in testBlocksRan`);
    return list.elements
      .filter(ts.isArrayLiteralExpression)
      .map((place) => place.elements.map(textOf).join(" "));
  };
  visit(source);
  return found;
}

const ran = new Set(find("test/**/*.test.ts").flatMap(placesRunBy));

/** Blocks of the pages that an entry is about. */
const blocksOf = ({ page, marker: wanted }: JudgedBlock): CodeBlock[] =>
  readBlocks(page).filter(({ marker }) => marker !== null && wanted.test(marker));

test("every block of code runs in a test, or has a reason not to", () => {
  const excused = judgedBlocks
    .filter(({ lines }) => lines === undefined)
    .flatMap((entry) => blocksOf(entry).map(({ page, marker }) => `${page} ${marker ?? ""}`));
  expect(places.length).toBeGreaterThan(160);
  expect(places.filter((place) => !ran.has(place) && !excused.includes(place))).toEqual([]);
  expect([...ran].filter((place) => !places.includes(place))).toEqual([]);
  expect(excused.filter((place) => ran.has(place))).toEqual([]);
  expect(places.filter((place, index) => places.indexOf(place) < index)).toEqual([]);
});

test.each(judgedBlocks)("$by judges $marker of $page: $why", ({ by, ...entry }) => {
  expect(blocksOf({ by, ...entry })).not.toEqual([]);
  expect(readFileSync(join(root, by), "utf8")).toContain(entry.page);
});

test.each(judgedBlocks.filter(({ lines }) => lines !== undefined))(
  "$lines names some commands of $marker of $page that don't run, not all of them",
  ({ lines, ...entry }) => {
    const [block, ...others] = blocksOf(entry);
    const commands = commandsOf(block?.text ?? "").filter((command) => !command.startsWith("#"));
    const left = commands.filter((command) => lines?.test(command) === true);
    expect(others).toEqual([]);
    expect(left.length).toBeGreaterThan(0);
    expect(left.length).toBeLessThan(commands.length);
  },
);
