import { shippedWorld } from "../shipped/shipped-world";
import { engines } from "../shipped/engines";
import type { Token } from "../../tsql-server/syntax/lexer";
import type { Mutant } from "./mutants";

/*
 * The lesser or the greater of two numbers or instants, `CASE WHEN a < b THEN a ELSE b END`, and what one is above the other,
 * `CASE WHEN a <= b THEN 0 ELSE a - b END`: where both are equal either arm says the same.
 */

/** Does a mutant only decide which arm is taken where both are equal, and say the same? */
export function isTie({ source, edits }: Mutant): boolean {
  const [edit] = edits;
  if (edit === undefined) return false;
  const { start, end } = edit;
  const operator = source.textOf(edit);
  if (!["<", "<=", ">", ">="].includes(operator) || edit.text === operator) return false;
  const before = source.tokens.filter((token) => token.start < start);
  const behind = source.tokens.filter((token) => token.start >= end);
  // Beside any other condition: where both are equal, no arm differs.
  const left = takeUntil([...before].reverse(), ["WHEN", "OR", "AND"])?.reverse();
  const right = takeUntil(behind, ["THEN"]);
  if (left === undefined || right === undefined) return false;
  const taken = takeUntil(behind.slice(right.length + 1), ["ELSE"]);
  if (taken === undefined) return false;
  const other = takeUntil(behind.slice(right.length + taken.length + 2), ["END"]);
  if (other === undefined || [...left, ...right].some((token) => isText(source.text, token)))
    return false;
  return saysTheSame([left, right].map(written), [taken, other].map(written));
}

/** The tokens before the first of `words` that stands in no brackets; undefined: something else comes first. */
function takeUntil(tokens: readonly Token[], words: readonly string[]): Token[] | undefined {
  let depth = 0;
  for (const [place, { upper }] of tokens.entries()) {
    if (depth === 0 && words.includes(upper)) return tokens.slice(0, place);
    if (depth === 0 && others.includes(upper)) return undefined;
    if (upper === "(") depth += 1;
    if (upper === ")") depth -= 1;
  }
  return undefined;
}

const others = ["CASE", "WHEN", "THEN", "ELSE", "END", "AND", "OR", "NOT", ";"];

function saysTheSame([a = "", b = ""]: readonly string[], arms: readonly string[]): boolean {
  if (arms.includes(a) && arms.includes(b)) return true;
  const isPlain = [a, b].every((one) => /^@?\w+(?: \. \w+)?$/.test(one));
  return (
    isPlain && arms.includes("0") && (arms.includes(`${a} - ${b}`) || arms.includes(`${b} - ${a}`))
  );
}

function written(tokens: readonly Token[]): string {
  return tokens.map(({ upper }) => upper).join(" ");
}

/** Equal texts may differ in case: which of them is taken may be seen. */
function isText(text: string, { kind, upper }: Token): boolean {
  if (kind === "variable") return new RegExp(`${upper}\\s+n?(?:var)?char\\b`, "i").test(text);
  textColumns ??= readTextColumns();
  return kind === "string" || kind === "unicode" || textColumns.has(upper);
}

let textColumns: ReadonlySet<string> | undefined;

function readTextColumns(): ReadonlySet<string> {
  const tables = [...shippedWorld(engines.azure).tables];
  const columns = tables.flatMap(({ schema }) => [...schema.columns]);
  const texts = columns.filter(({ type }) => /char/i.test(JSON.stringify(type)));
  return new Set(texts.map(({ name }) => name.toUpperCase()));
}
