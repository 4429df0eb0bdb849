import type { TsqlFile } from "./files";
import {
  isGroup,
  isName,
  isSymbol,
  isWord,
  qualifiedAt,
  splitList,
  tokenise,
  toTree,
} from "./tokens";
import type { Fault, Node } from "./tokens";
import { types } from "./vocabulary";

/** Everything our files make, by name. */
export interface Schema {
  /** Tables and views. */
  readonly relations: Map<string, Relation>;
  /** Table types. */
  readonly types: Map<string, Relation>;
  readonly procedures: Map<string, readonly Parameter[]>;
  readonly functions: Map<string, { parameters: readonly Parameter[]; columns: Columns | null }>;
  /** Index and constraint names, with their table. */
  readonly indexes: Map<string, string>;
  /** Schemas, roles, sequences. */
  readonly others: Set<string>;
}

/** Column names with the known facts of each. */
export type Columns = ReadonlyMap<string, Column>;

/** A column. `isRequired`: NOT NULL, and nothing gives it a value by itself. */
export interface Column {
  readonly isRequired: boolean;
}

/** A table or something like it. */
export interface Relation {
  readonly columns: Columns;
}

/** Of a procedure or function, with its @. */
export interface Parameter {
  readonly name: string;
  readonly hasDefault: boolean;
  readonly isOutput: boolean;
}

/** A column list with its errors. */
export interface ColumnList {
  readonly columns: Map<string, Column>;
  readonly indexes: readonly string[];
  readonly faults: readonly Fault[];
}

/** Columns whose names alone are known. */
export function namedColumns(names: readonly string[]): Columns {
  return new Map(names.map((name) => [name, { isRequired: false }]));
}

/** Reads everything that a set of files makes. Files that can't be read are passed over: their check tells why. */
export function readSchema(files: readonly TsqlFile[]): Schema {
  const schema: Schema = {
    relations: new Map(),
    types: new Map(),
    procedures: new Map(),
    functions: new Map(),
    indexes: new Map(),
    others: new Set(),
  };
  for (const file of files) {
    for (const batch of file.batches) {
      try {
        readBatch(schema, toTree(tokenise(batch.text, batch.line)));
      } catch {
        continue;
      }
    }
  }
  return schema;
}

function readBatch(schema: Schema, nodes: readonly Node[]): void {
  nodes.forEach((node, index) => {
    if (isWord(node, "ALTER") && isWord(nodes[index + 1], "TABLE"))
      addColumns(schema, addedTo(nodes, index + 2));
    if (!isWord(node, "CREATE")) return;
    const at = isWord(nodes[index + 1], "OR") ? index + 3 : index + 1;
    readObject(schema, nodes, at);
  });
}

function readObject(schema: Schema, nodes: readonly Node[], at: number): void {
  const kind = nodes[at];
  const name = qualifiedAt(nodes, at + 1) ?? "";
  const after = at + 4;
  if (isWord(kind, "SCHEMA", "ROLE")) {
    const own = nodes[at + 1];
    if (isName(own)) schema.others.add(own.text);
  } else if (isWord(kind, "SEQUENCE")) schema.others.add(name);
  else if (isWord(kind, "TABLE")) addTable(schema, name, nodes[after]);
  else if (isWord(kind, "TYPE")) {
    const list = nodes.slice(after).find(isGroup);
    if (list !== undefined) schema.types.set(name, readColumns(list.nodes));
  } else if (isWord(kind, "PROCEDURE")) {
    const end = nodes.findIndex((node, index) => index > at && isWord(node, "AS"));
    schema.procedures.set(name, readParameters(nodes.slice(after, end)));
  } else if (isWord(kind, "FUNCTION")) addFunction(schema, name, nodes.slice(after));
  else if (isWord(kind, "VIEW")) {
    schema.relations.set(name, { columns: firstSelectColumns(nodes.slice(after)) });
  } else if (isWord(kind, "NONCLUSTERED", "UNIQUE", "INDEX")) {
    const index = nodes.findIndex((node, position) => position >= at && isWord(node, "INDEX"));
    const own = nodes[index + 1];
    const table = qualifiedAt(nodes, index + 3);
    if (isName(own) && table !== null) schema.indexes.set(own.text, table);
  }
}

function addTable(schema: Schema, name: string, list: Node | undefined): void {
  if (!isGroup(list)) return;
  const read = readColumns(list.nodes);
  schema.relations.set(name, read);
  for (const index of read.indexes) schema.indexes.set(index, name);
}

/** ALTER TABLE .. ADD: the table, and what stands behind ADD. */
export function addedTo(
  nodes: readonly Node[],
  at: number,
): { readonly name: string; readonly items: readonly Node[] } | undefined {
  const name = qualifiedAt(nodes, at);
  if (name === null || !isWord(nodes[at + 3], "ADD")) return undefined;
  const end = nodes.findIndex((node, index) => index > at && isSymbol(node, ";"));
  return { name, items: nodes.slice(at + 4, end < 0 ? undefined : end) };
}

function addColumns(schema: Schema, added: ReturnType<typeof addedTo>): void {
  const table = schema.relations.get(added?.name ?? "");
  if (added === undefined || table === undefined) return;
  const read = readColumns(added.items);
  schema.relations.set(added.name, { columns: new Map([...table.columns, ...read.columns]) });
  for (const index of read.indexes) schema.indexes.set(index, added.name);
}

function addFunction(schema: Schema, name: string, rest: readonly Node[]): void {
  const list = rest[0];
  const parameters = isGroup(list) ? readParameters(list.nodes) : [];
  const isTable = rest.some(
    (node, index) => isWord(node, "RETURNS") && isWord(rest[index + 1], "TABLE"),
  );
  schema.functions.set(name, {
    parameters,
    columns: isTable ? firstSelectColumns(rest) : null,
  });
}

/** Reads the items between the parentheses of a table, a table type, a table variable or OPENJSON's WITH. */
export function readColumns(nodes: readonly Node[]): ColumnList {
  const columns = new Map<string, Column>();
  const faults: Fault[] = [];
  const indexes: string[] = [];
  for (const item of splitList(nodes)) {
    const [name, type] = item;
    item.forEach((node, index) => {
      const own = item[index + 1];
      if (isWord(node, "CONSTRAINT") && isName(own)) indexes.push(own.text);
    });
    if (name === undefined || isWord(name, "CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK")) continue;
    const line = "line" in name ? name.line : 1;
    const found = item.filter((node) => node.kind === "word" && types.has(node.text));
    if (!isName(name) || type?.kind !== "word" || !types.has(type.text) || found.length !== 1) {
      const text = item.map((node) => ("text" in node ? node.text : "(..)")).join(" ");
      faults.push({ line, rule: "one type per column", message: text.slice(0, 100) });
      continue;
    }
    if (columns.has(name.text)) {
      faults.push({ line, rule: "one column per name", message: name.text });
    }
    columns.set(name.text, { isRequired: isRequired(item) });
  }
  return { columns, indexes, faults };
}

function isRequired(item: readonly Node[]): boolean {
  const isNotNull = item.some(
    (node, index) => isWord(node, "NOT") && isWord(item[index + 1], "NULL"),
  );
  const fillsItself = item.some((node) => isWord(node, "DEFAULT", "IDENTITY"));
  const isKey = item.some((node) => isWord(node, "PRIMARY"));
  return (isNotNull || isKey) && !fillsItself;
}

function readParameters(nodes: readonly Node[]): Parameter[] {
  return splitList(nodes).flatMap((item) => {
    const name = item[0];
    if (name?.kind !== "variable") return [];
    return [
      {
        name: name.text,
        hasDefault: item.some((node) => isSymbol(node, "=")),
        isOutput: item.some((node) => isWord(node, "OUTPUT")),
      },
    ];
  });
}

/** Names of the first SELECT's columns, at any depth; unnamed ones are left out. */
function firstSelectColumns(nodes: readonly Node[]): Columns {
  const at = nodes.findIndex((node) => isWord(node, "SELECT"));
  if (at >= 0) return namedColumns(selectNames(nodes.slice(at)).filter((name) => name !== null));
  const inner = nodes.find(
    (node) => isGroup(node) && node.nodes.some((child) => isWord(child, "SELECT")),
  );
  return isGroup(inner) ? firstSelectColumns(inner.nodes) : new Map();
}

const afterSelectList = ["FROM", "WHERE", "UNION", "ORDER", "OPTION", "GROUP", "HAVING"];

/** The items of a SELECT list: `nodes` begin with SELECT. */
export function selectItems(nodes: readonly Node[]): Node[][] {
  let from = 1;
  if (isWord(nodes[from], "DISTINCT", "ALL")) from += 1;
  if (isWord(nodes[from], "TOP")) from += 2;
  const end = nodes.findIndex(
    (node, index) =>
      index >= from &&
      (isSymbol(node, ";") ||
        (isWord(node, ...afterSelectList) && !isWord(nodes[index - 1], "WITHIN"))),
  );
  return splitList(nodes.slice(from, end < 0 ? undefined : end));
}

/** Names of a SELECT's columns, null where there is none. */
export function selectNames(nodes: readonly Node[]): (string | null)[] {
  return selectItems(nodes).map((item) => {
    const last = item.at(-1);
    const before = item.at(-2);
    if (isName(last) && (isWord(before, "AS") || isSymbol(before, ".") || item.length === 1))
      return last.text;
    return null;
  });
}
