import { defaultCollation, jsonKeyCollation } from "../../storage/collation";
import type { OpenJsonColumn, OpenJsonSource } from "../../syntax/ast";
import type { SqlValue } from "../../values";
import { converterOf } from "../convert";
import type { Scalar } from "../expression";
import type { Frame } from "../frame";
import { meteredText } from "../metered-text";
import { RowsSource } from "../row-sources";
import type { JsonPath, JsonValue } from "../json";
import { follow, fragmentText, parseJson, parsePath, scalarText, typeNumber } from "../json";
import { SimulationError } from "../sql-error";
import type { Source } from "../source";
import { textMax } from "../types";
import { convertTo } from "./conversions";
import { bindExpression } from "./expressions";
import type { Scope, SourceColumn } from "./scope";
import { SourceBinding } from "./scope";

/** OPENJSON: [doc: OPENJSON]. Its argument may be a column of the source left of it under APPLY. */
export function bindOpenJson(node: OpenJsonSource, scope: Scope): Source {
  const json = convertTo(meteredText(bindExpression(node.json, scope)), textMax);
  const path = node.path === undefined ? parsePath("$") : constantPath(node, scope);
  if (json.run !== undefined) {
    throw new SimulationError(
      `${scope.binder.place(node.line)}: OPENJSON of a query isn't modelled`,
    );
  }
  const slot = scope.binder.newSlot();
  const columns = node.columns === undefined ? defaultColumns() : node.columns.map(columnOf);
  scope.sources.push(new SourceBinding(node.alias ?? "OPENJSON", slot, { columns }));
  const read = node.columns === undefined ? defaultRows : typedRows(node.columns);
  return new RowsSource(slot, (frame) => {
    const root = rootOf(json, path, frame);
    return root === undefined ? [] : read(root);
  });
}

function constantPath(node: OpenJsonSource, scope: Scope): JsonPath {
  const path = node.path === undefined ? undefined : bindExpression(node.path, scope).constant;
  if (typeof path !== "string") {
    throw new SimulationError(
      `${scope.binder.place(node.line)}: a path that is no literal isn't modelled`,
    );
  }
  return parsePath(path);
}

function rootOf(json: Scalar, path: JsonPath, frame: Frame): JsonValue | undefined {
  const text = json.evaluate(frame);
  if (text === null) return undefined;
  const value = follow(parseJson(String(text)), path);
  return value?.kind === "object" || value?.kind === "array" ? value : undefined;
}

function defaultColumns(): SourceColumn[] {
  const database = { name: defaultCollation, rank: "implicit" as const };
  return [
    {
      name: "key",
      type: { name: "nvarchar", length: 4000 },
      collation: { name: jsonKeyCollation, rank: "implicit" },
      isNullable: false,
    },
    { name: "value", type: textMax, collation: database, isNullable: true },
    { name: "type", type: { name: "tinyint" }, collation: database, isNullable: false },
  ];
}

function* defaultRows(root: JsonValue): Generator<SqlValue[]> {
  if (root.kind === "object") {
    for (const [name, value] of root.members) yield [name, textOf(value), typeNumber(value)];
  }
  if (root.kind === "array") {
    for (const [place, value] of root.items.entries())
      yield [String(place), textOf(value), typeNumber(value)];
  }
}

function textOf(value: JsonValue): string | null {
  return value.kind === "null" ? null : value.text;
}

function columnOf(column: OpenJsonColumn): SourceColumn {
  const collation = column.collation ?? defaultCollation;
  return {
    name: column.name,
    type: column.type,
    collation: { name: collation, rank: "implicit" },
    isNullable: true,
  };
}

/** One row per element of an array, one of an object; what isn't there is NULL (lax). */
function typedRows(columns: readonly OpenJsonColumn[]): (root: JsonValue) => Iterable<SqlValue[]> {
  const readers = columns.map((column) => {
    const path = parsePath(column.path);
    const convert = converterOf(textMax, column.type);
    const pick = column.isJson ? fragmentText : scalarText;
    return (item: JsonValue): SqlValue => convert(pick(follow(item, path)) ?? null);
  });
  const rowOf = (item: JsonValue): SqlValue[] => readers.map((read) => read(item));
  return (root) => (root.kind === "array" ? root.items.map(rowOf) : [rowOf(root)]);
}
