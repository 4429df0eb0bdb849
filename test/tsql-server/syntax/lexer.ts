import { TsqlSyntaxError } from "./syntax-error";

/** A piece of T-SQL. Comments and blanks leave none. */
export interface Token {
  readonly kind: TokenKind;
  /** As written; of a quoted name and a string the text between the quotes, with doubled ones made single. */
  readonly text: string;
  /** `text` in capitals if it is a word, else the same as `text`. */
  readonly upper: string;
  readonly line: number;
  /** Where it starts and ends in the text. */
  readonly start: number;
  readonly end: number;
}

/** string is '..', unicode is N'..', binary is 0x..; end stands behind the last token. */
export type TokenKind =
  | "word"
  | "quoted"
  | "variable"
  | "systemVariable"
  | "number"
  | "binary"
  | "string"
  | "unicode"
  | "symbol"
  | "end";

interface Piece {
  readonly kind: TokenKind;
  readonly pattern: RegExp;
}

/** In the order in which they are tried. A number that runs into a letter is none: a server would read an alias there. */
const pieces: readonly Piece[] = [
  { kind: "unicode", pattern: /N'(?:[^']|'')*'/iy },
  { kind: "string", pattern: /'(?:[^']|'')*'/y },
  { kind: "quoted", pattern: /\[(?:[^\]]|\]\])+\]/y },
  { kind: "systemVariable", pattern: /@@[A-Za-z_]\w*/y },
  { kind: "variable", pattern: /@[A-Za-z_][\w@$#]*/y },
  { kind: "binary", pattern: /0x[0-9A-Fa-f]*(?![\w.])/y },
  { kind: "number", pattern: /(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])/y },
  { kind: "word", pattern: /[A-Za-z_][\w@$#]*/y },
  { kind: "symbol", pattern: /::|<>|<=|>=|!=|\+=|-=|\*=|\/=|%=|[-+*/%&|^~=<>(),;.]/y },
];

/** Cuts a text into tokens; the last one is the end. Throws where it can't be cut. */
export function tokenise(text: string, fileName: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  let line = 1;
  for (;;) {
    const next = skipBlanks(text, { at, line, fileName });
    at = next.at;
    line = next.line;
    if (at >= text.length) break;
    const { kind, end } = readPiece(text, { at, line, fileName });
    const written = textOf(kind, text.slice(at, end));
    const upper = kind === "word" || kind === "systemVariable" ? written.toUpperCase() : written;
    tokens.push({ kind, text: written, upper, line, start: at, end });
    line += countLines(text.slice(at, end));
    at = end;
  }
  tokens.push({ kind: "end", text: "", upper: "", line, start: at, end: at });
  return tokens;
}

interface Place {
  readonly at: number;
  readonly line: number;
  readonly fileName: string;
}

/** Passes blanks and comments; comments in slashes may stand inside each other. */
function skipBlanks(text: string, place: Place): { at: number; line: number } {
  let { at, line } = place;
  for (;;) {
    const character = text[at];
    if (character === "\n") line += 1;
    if (character !== undefined && /\s/.test(character)) {
      at += 1;
    } else if (text.startsWith("--", at)) {
      const end = text.indexOf("\n", at);
      at = end < 0 ? text.length : end;
    } else if (text.startsWith("/*", at)) {
      const end = endOfComment(text, { ...place, at, line });
      line += countLines(text.slice(at, end));
      at = end;
    } else return { at, line };
  }
}

function endOfComment(text: string, place: Place): number {
  let depth = 0;
  for (let at = place.at; at < text.length; at += 2) {
    if (text.startsWith("/*", at)) depth += 1;
    else if (text.startsWith("*/", at)) depth -= 1;
    else at -= 1;
    if (depth === 0) return at + 2;
  }
  throw new TsqlSyntaxError(place, "a comment is never closed");
}

function readPiece(text: string, place: Place): { kind: TokenKind; end: number } {
  for (const { kind, pattern } of pieces) {
    pattern.lastIndex = place.at;
    const written = pattern.exec(text)?.[0];
    if (written === undefined) continue;
    if ((kind === "string" || kind === "unicode") && /\\\r?\n/.test(written)) {
      throw new TsqlSyntaxError(
        place,
        "a backslash at the end of a line joins the lines of a text",
      );
    }
    return { kind, end: place.at + written.length };
  }
  const character = text[place.at] ?? "";
  if (character === "'") throw new TsqlSyntaxError(place, "a text is never closed");
  const rest = text.slice(place.at, place.at + 20).split("\n")[0] ?? "";
  throw new TsqlSyntaxError(place, `can't be read: ${rest}`);
}

function textOf(kind: TokenKind, written: string): string {
  switch (kind) {
    case "quoted":
      return written.slice(1, -1).replaceAll("]]", "]");
    case "string":
      return written.slice(1, -1).replaceAll("''", "'");
    case "unicode":
      return written.slice(2, -1).replaceAll("''", "'");
    default:
      return written;
  }
}

function countLines(text: string): number {
  let lines = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines;
}
