import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { globSync } from "tinyglobby";
import ts from "typescript";
import { readBlocks, root } from "./markdown";

/*
 * Goal: no block of TypeScript, JavaScript or SQL in any page is there for show. Each is named by a `testBlocksRan`, whose own test fails where the
 * block hasn't run, or stands below with the file that judges it and the reason.
 */
const judgedElsewhere = [
  {
    page: "CONTRIBUTING.md",
    marker: /^read-stop$/,
    by: "test/static/new-operation.test.ts",
    why: "a test adds the operation to a copy and compares the block with its files",
  },
  {
    page: "docs/guides/orms.md",
    marker: /./,
    by: "test/static/own-packages.test.ts",
    why: "the blocks are files of a package of its own, which `npm run test:orms` installs and runs every night",
  },
  {
    page: "docs/operate/retention.md",
    marker: /^erase-/,
    by: "test/contract/erasure.contract.ts",
    why: "a case of the contract runs the statements on every store",
  },
  {
    page: "docs/operate/runbook.md",
    marker: /^raise-mssql$/,
    by: "test/docs/runbook.test.ts",
    why: "it doesn't run: the T-SQL server of the tests has no DBCC; its names are compared with the schema",
  },
];

const find = (...patterns: string[]): string[] =>
  globSync(patterns, { cwd: root, dot: true, ignore: ["**/node_modules/**"] });

const placesOf = (page: string): string[] =>
  readBlocks(page)
    .filter(({ language }) => /^(?:ts|typescript|js|javascript|sql|tsql)$/.test(language))
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

test("every block of TypeScript, JavaScript and SQL runs in a test, or has a reason not to", () => {
  const excused = judgedElsewhere.flatMap(({ page, marker }) =>
    placesOf(page).filter((place) => marker.test(place.slice(page.length + 1))),
  );
  expect(places.length).toBeGreaterThan(60);
  expect(places.filter((place) => !ran.has(place) && !excused.includes(place))).toEqual([]);
  expect([...ran].filter((place) => !places.includes(place))).toEqual([]);
  expect(excused.filter((place) => ran.has(place))).toEqual([]);
  expect(places.filter((place, index) => places.indexOf(place) < index)).toEqual([]);
});

test.each(judgedElsewhere)("$by judges blocks of $page: $why", ({ page, marker, by }) => {
  expect(readBlocks(page).filter((block) => marker.test(block.marker ?? ""))).not.toEqual([]);
  expect(readFileSync(join(root, by), "utf8")).toContain(page);
});
