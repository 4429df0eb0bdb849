import { readFileSync } from "node:fs";
import { Language, Parser, type Node } from "web-tree-sitter";
import type { Report } from "./fault";

/** Parses Bicep text into a syntax tree. */
export type ParseBicep = (text: string) => Node;

/**
 * Loads the grammar (web assembly, no native code, no network). The grammar knows Bicep without
 * spread, import and resourceInput; infra/ keeps to that older syntax.
 */
export async function loadParser(): Promise<ParseBicep> {
  await Parser.init();
  // Bytes, not a path: a path is taken for an address to fetch under some module systems.
  const grammar = readFileSync(require.resolve("tree-sitter-bicep/tree-sitter-bicep.wasm"));
  const parser = new Parser();
  parser.setLanguage(await Language.load(grammar));
  return (text) => {
    const tree = parser.parse(text);
    if (tree === null) {
      throw new Error("The parser gave no tree");
    }
    return tree.rootNode;
  };
}

/** Children that carry meaning: no punctuation, no comments. */
export function namedChildren(node: Node): readonly Node[] {
  return node.namedChildren.filter((child) => child !== null && child.type !== "comment") as Node[];
}

/** All nodes of a tree that satisfy a test, in order of the text. */
export function findNodes(root: Node, isWanted: (node: Node) => boolean): readonly Node[] {
  const found: Node[] = [];
  const visit = (node: Node): void => {
    if (isWanted(node)) {
      found.push(node);
    }
    for (const child of node.children) {
      if (child !== null) {
        visit(child);
      }
    }
  };
  visit(root);
  return found;
}

/** Line of a node, from 1. */
export function lineOf(node: Node): number {
  return node.startPosition.row + 1;
}

/** The text of a string literal without interpolation, else undefined. */
export function literalText(node: Node | null | undefined): string | undefined {
  if (node?.type !== "string") {
    return undefined;
  }
  const parts = namedChildren(node);
  if (parts.some((part) => part.type !== "string_content" && part.type !== "escape_sequence")) {
    return undefined;
  }
  return parts
    .map((part) => (part.type === "escape_sequence" ? unescapeText(part.text) : part.text))
    .join("");
}

function unescapeText(sequence: string): string {
  const known: Record<string, string> = { "\\n": "\n", "\\r": "\r", "\\t": "\t" };
  return known[sequence] ?? sequence.slice(1);
}

/** Name and value node of each property of an object literal; name undefined if interpolated. */
export function objectEntries(
  node: Node,
): readonly { readonly name: string | undefined; readonly key: Node; readonly value: Node }[] {
  return namedChildren(node)
    .filter((child) => child.type === "object_property")
    .flatMap((child) => {
      const [key, value] = namedChildren(child);
      if (key === undefined || value === undefined) {
        return [];
      }
      return [{ name: key.type === "string" ? literalText(key) : key.text, key, value }];
    });
}

/** Value node of a property of an object literal. */
export function propertyOf(node: Node | undefined, ...path: readonly string[]): Node | undefined {
  let current = node;
  for (const name of path) {
    if (current?.type !== "object") {
      return undefined;
    }
    current = objectEntries(current).find((entry) => entry.name === name)?.value;
  }
  return current;
}

/** Reports what the grammar could not read, and properties or items that run into each other. */
export function checkSyntax(root: Node, report: Report): void {
  for (const node of findNodes(root, (n) => n.isError || n.isMissing)) {
    const what = node.isMissing
      ? `expected ${node.type}`
      : `cannot read ${JSON.stringify(node.text.slice(0, 40))}`;
    report("syntax", lineOf(node), what);
  }
  for (const list of findNodes(root, (n) => n.type === "object" || n.type === "array")) {
    checkSeparators(list, report);
  }
  for (const item of namedChildren(root)) {
    const next = item.nextNamedSibling;
    if (next?.startPosition.row === item.endPosition.row && next.type !== "comment") {
      report("syntax", lineOf(next), "two declarations on one line");
    }
  }
}

/** The grammar takes neighbours without comma or line break; the compiler does not. */
function checkSeparators(list: Node, report: Report): void {
  const children = list.children.filter((child) => child !== null && child.type !== "comment");
  for (const [index, child] of children.entries()) {
    const next = children[index + 1];
    if (!child || !next || !child.isNamed || !next.isNamed) {
      continue;
    }
    if (child.endPosition.row === next.startPosition.row) {
      report("syntax", lineOf(next), "expected a line break or a comma before this");
    }
  }
}
