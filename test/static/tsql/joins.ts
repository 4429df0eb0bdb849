import type { Node, Query, QueryBody, QueryHint, Select } from "../../tsql-server/syntax/ast";
import { parseScript } from "../../tsql-server/syntax/parser";
import type { TsqlFile } from "./files";

/**
 * Joins of table variables. Their plan is made for as many rows as the first call has, and serves all later calls
 * [Table variable deferred compilation], unless a hint says what it is.
 */
export interface Join {
  readonly path: string;
  readonly line: number;
  /** A loop from the first source to the keys of the others, or a plan for one row, whatever the first call has. */
  readonly isFixed: boolean;
}

/** Every query of a file that joins a table variable with something else. */
export function readJoins(file: TsqlFile): Join[] {
  const joins: Join[] = [];
  const visit = (value: unknown, options: readonly QueryHint[]): void => {
    if (Array.isArray(value)) for (const each of value) visit(each, options);
    if (!isNode(value)) return;
    const own = "options" in value ? (value.options as readonly QueryHint[]) : options;
    if (isSelect(value) && isJoin(value))
      joins.push({ path: file.path, line: value.line, isFixed: isFixed(own) });
    for (const each of Object.values(value)) visit(each, own);
  };
  for (const batch of parseScript(file.text, file.path)) visit(batch.statements, []);
  return joins;
}

/** What reads rows: a SELECT, and an UPDATE or DELETE by its FROM. */
type Reader = Pick<Select, "line" | "from" | "where"> & Partial<Select>;

function isSelect(node: Node): node is Reader {
  return "from" in node && "where" in node;
}

function isJoin(reader: Reader): boolean {
  const { from, ...rest } = reader;
  const target = from === undefined && "target" in reader ? [reader.target] : [];
  const sources = [...flatten(from), ...target, ...correlated(rest, namesOf(from))];
  return sources.length > 1 && sources.some(hasTableVariable);
}

/** The sides of all joins of a FROM; a derived table is one, but for one of computed values. */
function flatten(source: unknown): unknown[] {
  if (!isNode(source)) return [];
  if ("left" in source && "right" in source)
    return [...flatten(source.left), ...flatten(source.right)];
  return readsRows(source) ? [source] : [];
}

function readsRows(source: Node): boolean {
  if ("rows" in source) return false;
  if (!("query" in source)) return true;
  return selectsOf((source.query as Query).body).some(({ from }) => from !== undefined);
}

/** Sources of the subqueries that name a row of the query around them: one that doesn't is read once, by itself. */
function correlated(value: unknown, outer: ReadonlySet<string>): unknown[] {
  if (Array.isArray(value)) return value.flatMap((each) => correlated(each, outer));
  if (!isNode(value)) return [];
  if ("query" in value)
    return selectsOf((value.query as Query).body).flatMap((select) =>
      "operand" in value || names(select, outer)
        ? [...flatten(select.from), ...correlated({ ...select, from: undefined }, outer)]
        : [],
    );
  return Object.values(value).flatMap((each) => correlated(each, outer));
}

function selectsOf(body: QueryBody): Select[] {
  return body.kind === "select" ? [body] : [...selectsOf(body.left), ...selectsOf(body.right)];
}

function namesOf(source: unknown): Set<string> {
  const found = new Set<string>();
  for (const each of flatten(source)) {
    if (isNode(each) && "alias" in each && typeof each.alias === "string") found.add(each.alias);
  }
  return found;
}

function names(value: unknown, aliases: ReadonlySet<string>): boolean {
  if (Array.isArray(value)) return value.some((each) => names(each, aliases));
  if (!isNode(value)) return false;
  if ("qualifier" in value && aliases.has(String(value.qualifier))) return true;
  return Object.values(value).some((each) => names(each, aliases));
}

function hasTableVariable(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasTableVariable);
  if (!isNode(value)) return false;
  if ("kind" in value && value.kind === "tableVariable") return true;
  return Object.values(value).some(hasTableVariable);
}

function isFixed(options: readonly QueryHint[]): boolean {
  const kinds = options.map(({ kind }) => kind);
  const isLoop = options.some((hint) => hint.kind === "joins" && hint.algorithms.join() === "LOOP");
  const isForOneRow = options.some(
    (hint) => hint.kind === "useHint" && hint.values.includes("DISABLE_DEFERRED_COMPILATION_TV"),
  );
  return (isLoop && kinds.includes("forceOrder") && kinds.includes("keepFixedPlan")) || isForOneRow;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
