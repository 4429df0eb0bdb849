import type { Batch, Statement } from "./ast-statements";
import { tokenise } from "./lexer";
import type { Token } from "./lexer";
import { StatementParser } from "./statement-parser";
import type { StatementCounter } from "./statement-parser";
import { TsqlSyntaxError } from "./syntax-error";

/*
 * T-SQL as a tree: a closed vocabulary, read strictly. Any other text is a TsqlSyntaxError with file and line, so the
 * vocabulary grows by decision: a form gets a node in the ast files, a rule in the parser of its kind, one positive and one
 * negative case in parser.test.ts, and its meaning in engine/. The parsers are one class in layers, lowest first:
 * TokenReader, NameParser, CallParser, ExpressionParser, SourceParser, QueryParser, ModificationParser, TableParser,
 * DefinitionParser, SettingParser, StatementParser.
 */

const remembered = new Map<string, readonly Batch[]>();
const rememberedMax = 500;

/**
 * Reads a file: batches between lines that say GO. Batches with nothing but comments are left out. The same text gives
 * the same trees, which no caller may change; each text is read once.
 */
export function parseScript(text: string, fileName: string): readonly Batch[] {
  const key = `${fileName}\n${text}`;
  const known = remembered.get(key);
  if (known !== undefined) return known;
  const counter: StatementCounter = { last: 0 };
  const batches = splitBatches(text, fileName).map((part): Batch => {
    const parser = new StatementParser({ tokens: part.tokens, fileName }, counter);
    const statements = parser.batch();
    const { spans, pieces } = parser;
    return { text: part.text, line: part.line, statements, spans, pieces };
  });
  if (remembered.size >= rememberedMax) remembered.clear();
  remembered.set(key, batches);
  return batches;
}

/** Reads one batch, as a driver sends it: GO is no word in it. */
export function parseStatements(text: string, fileName: string): readonly Statement[] {
  const [batch, second] = parseScript(text, fileName);
  if (second !== undefined) {
    throw new TsqlSyntaxError({ fileName, line: second.line }, "expected one batch, found GO");
  }
  return batch?.statements ?? [];
}

interface Part {
  readonly text: string;
  readonly line: number;
  readonly tokens: readonly Token[];
}

function splitBatches(text: string, fileName: string): Part[] {
  const parts: Part[] = [];
  let tokens: Token[] = [];
  let start = { at: 0, line: 1 };
  for (const token of tokenise(text, fileName)) {
    if (token.kind !== "end" && !isSeparator(token, text)) {
      tokens.push(token);
      continue;
    }
    if (tokens.length > 0) {
      const end: Token = { ...token, kind: "end", text: "", upper: "" };
      const lines = { line: start.line, text: text.slice(start.at, token.start) };
      parts.push({ ...lines, tokens: [...tokens, end] });
    }
    tokens = [];
    const endOfLine = text.indexOf("\n", token.end);
    start = { at: endOfLine < 0 ? text.length : endOfLine + 1, line: token.line + 1 };
  }
  return parts;
}

/** GO alone on its line, a comment behind it allowed. GO with a count is not in the vocabulary. */
function isSeparator(token: Token, text: string): boolean {
  if (token.kind !== "word" || token.upper !== "GO") return false;
  const before = text.slice(text.lastIndexOf("\n", token.start - 1) + 1, token.start);
  const rest = text.slice(token.end).split("\n", 1)[0] ?? "";
  return before.trim() === "" && /^\s*(?:--.*)?$/.test(rest);
}
