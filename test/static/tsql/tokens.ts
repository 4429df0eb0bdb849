/** T-SQL as tokens and as a tree of parentheses. Comments are left out; lines are counted from 1. */

/** What a token is. A quoted name's text is the name without its brackets. */
export type TokenKind = "word" | "quoted" | "variable" | "system" | "string" | "number" | "symbol";

/** One token. */
export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  readonly line: number;
}

/** A token of one kind. */
export type Of<Kind extends TokenKind> = Token & { readonly kind: Kind };

/** Parentheses with their content, or one token. */
export type Node = Token | Group;

/** The content of two parentheses. */
export interface Group {
  readonly kind: "group";
  readonly line: number;
  readonly nodes: readonly Node[];
}

/** Something that can't be right. */
export interface Fault {
  readonly line: number;
  readonly rule: string;
  readonly message: string;
}

/** Thrown when a batch can't be cut into tokens or its parentheses don't match. */
export class LexicalFault extends Error {
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

const pieces: readonly (readonly [TokenKind | null, RegExp])[] = [
  [null, /\s+/y],
  [null, /--[^\n]*/y],
  [null, /\/\*[\s\S]*?\*\//y],
  ["string", /N?'(?:[^']|'')*'/y],
  ["quoted", /\[(?:[^\]]|\]\])*\]/y],
  ["system", /@@\w+/y],
  ["variable", /@\w+/y],
  ["number", /(?:0x[0-9A-Fa-f]+|\d+(?:\.\d+)?)(?!\w)/y],
  ["word", /[A-Za-z_]\w*/y],
  ["symbol", /::|<>|<=|>=|!=|[-+*/%=<>(),;.&|~^:]/y],
];

/** Cuts a batch into tokens; `line` is that of its first character. */
export function tokenise(sql: string, line = 1): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < sql.length) {
    const [kind, text] = nextPiece(sql, at, line);
    if (kind !== null) {
      tokens.push({ kind, text: kind === "quoted" ? text.slice(1, -1) : text, line });
    }
    line += text.split("\n").length - 1;
    at += text.length;
  }
  return tokens;
}

function nextPiece(sql: string, at: number, line: number): [TokenKind | null, string] {
  for (const [kind, pattern] of pieces) {
    pattern.lastIndex = at;
    const text = pattern.exec(sql)?.[0];
    if (text !== undefined) return [kind, text];
  }
  throw new LexicalFault(line, `can't be read: ${sql.slice(at, at + 20)}`);
}

/** Puts the content of parentheses into groups. */
export function toTree(tokens: readonly Token[]): Node[] {
  const open: { line: number; nodes: Node[] }[] = [{ line: 1, nodes: [] }];
  for (const token of tokens) {
    if (isSymbol(token, "(")) {
      open.push({ line: token.line, nodes: [] });
    } else if (isSymbol(token, ")")) {
      const group = open.pop();
      const around = open.at(-1);
      if (group === undefined || around === undefined) {
        throw new LexicalFault(token.line, "a parenthesis is closed that was never opened");
      }
      around.nodes.push({ kind: "group", ...group });
    } else open.at(-1)?.nodes.push(token);
  }
  const last = open.pop();
  if (last === undefined || open.length > 0) {
    throw new LexicalFault(last?.line ?? 1, "a parenthesis is never closed");
  }
  return last.nodes;
}

/** Is it this word, in capitals as keywords are written? */
export function isWord(node: Node | undefined, ...words: readonly string[]): node is Of<"word"> {
  return node?.kind === "word" && words.includes(node.text);
}

/** Is it this sign? */
export function isSymbol(
  node: Node | undefined,
  ...signs: readonly string[]
): node is Of<"symbol"> {
  return node?.kind === "symbol" && signs.includes(node.text);
}

/** Is it a name: a bare word or one in brackets? */
export function isName(node: Node | undefined): node is Of<"word" | "quoted"> {
  return node?.kind === "word" || node?.kind === "quoted";
}

/** Is it a pair of parentheses? */
export function isGroup(node: Node | undefined): node is Group {
  return node?.kind === "group";
}

/** Cuts a list at a sign or at words of the same level. */
export function splitAt(nodes: readonly Node[], isCut: (node: Node) => boolean): Node[][] {
  const parts: Node[][] = [[]];
  for (const node of nodes) {
    if (isCut(node)) parts.push([]);
    else parts.at(-1)?.push(node);
  }
  return parts;
}

/** Cuts at commas. */
export function splitList(nodes: readonly Node[]): Node[][] {
  return splitAt(nodes, (node) => isSymbol(node, ","));
}

/** `Column.WRITE (`: a part of a value is set. */
export function isPartWrite(nodes: readonly Node[], index: number): boolean {
  const list = nodes[index + 3];
  const isCalled = isSymbol(list, "(") || isGroup(list);
  return isSymbol(nodes[index + 1], ".") && isWord(nodes[index + 2], "WRITE") && isCalled;
}

/** Reads `Taskgate.Task` at `index`; null when no two-part name stands there. */
export function qualifiedAt(nodes: readonly Node[], index: number): string | null {
  const [schema, dot, name] = [nodes[index], nodes[index + 1], nodes[index + 2]];
  if (!isName(schema) || !isSymbol(dot, ".") || !isName(name)) return null;
  return `${schema.text}.${name.text}`;
}
