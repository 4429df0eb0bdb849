import {
  isGroup,
  isName,
  isPartWrite,
  isSymbol,
  isWord,
  qualifiedAt,
  splitAt,
  splitList,
} from "./tokens";
import type { Fault, Node } from "./tokens";
import { namedColumns, readColumns, selectItems, selectNames } from "./schema";
import type { Columns, Relation, Schema } from "./schema";
import { systemObjects } from "./vocabulary";

/**
 * Resolves names inside one batch: aliases to tables, columns to what the alias stands for, targets of INSERT and
 * UPDATE to their columns. A null stands for columns that can't be known here; nothing is said of them.
 */
export class NameCheck {
  readonly faults: Fault[] = [];
  readonly #schema: Schema;
  /** Table variables of the batch. */
  readonly #variables: ReadonlyMap<string, Relation>;

  constructor(schema: Schema, variables: ReadonlyMap<string, Relation>) {
    this.#schema = schema;
    this.#variables = variables;
  }

  /** One statement, or the text between two semicolons. */
  checkStatement(nodes: readonly Node[]): void {
    this.#checkIndexed(nodes);
    this.#checkQuery(nodes, { aliases: new Map(), tables: new Map(), parent: null });
  }

  /** The columns of CREATE INDEX are those of its table, which may stand in another file. */
  #checkIndexed(nodes: readonly Node[]): void {
    nodes.forEach((node, at) => {
      const list = nodes[at + 6];
      if (!isWord(node, "INDEX") || !isWord(nodes[at + 2], "ON") || !isGroup(list)) return;
      const relation = this.#schema.relations.get(qualifiedAt(nodes, at + 3) ?? "");
      for (const name of list.nodes.filter(isName)) {
        if (relation?.columns.has(name.text) !== true) {
          this.#fault(name, "an index has columns of its table", name.text);
        }
      }
    });
  }

  /** A query or statement; answers the columns of its first SELECT, when they all have names. */
  #checkQuery(nodes: readonly Node[], parent: Scope): Columns | null {
    const scope: Scope = { aliases: new Map(), tables: new Map(), parent };
    const rest = this.#readTableExpressions(nodes, scope);
    const parts = splitAt(rest, (node) => isWord(node, "UNION")).map((part) =>
      isWord(part[0], "ALL") ? part.slice(1) : part,
    );
    const counts = parts.map((part) => this.#checkPart(part, scope));
    const [first] = parts;
    const start = first?.findIndex((node) => isWord(node, "SELECT")) ?? -1;
    if (first === undefined || start < 0) return null;
    if (new Set(counts).size > 1) {
      this.#fault(
        first[start],
        "same number of columns in every part of a UNION",
        counts.join(", "),
      );
    }
    const names = selectNames(first.slice(start));
    const known = names.filter((name) => name !== null);
    return known.length === names.length ? namedColumns(known) : null;
  }

  /** `WITH a AS (..), b AS (..)`: notes them and answers what follows. */
  #readTableExpressions(nodes: readonly Node[], scope: Scope): readonly Node[] {
    const start = nodes.findIndex(
      (node, index) =>
        isWord(node, "WITH") &&
        isName(nodes[index + 1]) &&
        isWord(nodes[index + 2], "AS") &&
        isGroup(nodes[index + 3]),
    );
    if (start < 0) return nodes;
    let at = start + 1;
    for (;;) {
      const [name, , body] = nodes.slice(at, at + 3);
      if (!isName(name) || !isGroup(body)) break;
      scope.tables.set(name.text, this.#checkQuery(body.nodes, scope));
      at += 3;
      if (!isSymbol(nodes[at], ",")) break;
      at += 1;
    }
    return [...nodes.slice(0, start), ...nodes.slice(at)];
  }

  /** One part of a UNION; answers how many columns its SELECT has, 0 when it has none. */
  #checkPart(nodes: readonly Node[], parent: Scope): number {
    const scope: Scope = { aliases: new Map(), tables: new Map(), parent };
    this.#readSources(nodes, scope);
    this.#readTarget(nodes, scope);
    this.#checkReferences(nodes, scope);
    const at = nodes.findIndex((node) => isWord(node, "SELECT"));
    return at < 0 ? 0 : selectItems(nodes.slice(at)).length;
  }

  /** What FROM, JOIN and APPLY name, with its alias. */
  #readSources(nodes: readonly Node[], scope: Scope): void {
    nodes.forEach((node, index) => {
      if (!isWord(node, "FROM", "JOIN", "APPLY")) return;
      const source = this.#readSource(nodes, index + 1, scope);
      const alias = nodes[source.end + 1];
      if (isWord(nodes[source.end], "AS") && isName(alias)) {
        const list = nodes[source.end + 2];
        const columns =
          isGroup(list) && list.nodes.every((child) => isName(child) || isSymbol(child, ","))
            ? namedColumns(list.nodes.filter(isName).map((child) => child.text))
            : source.columns;
        scope.aliases.set(alias.text, { columns, table: source.table });
        this.#checkHints(nodes.slice(source.end + 2, source.end + 5), source.table);
      } else if (
        isName(nodes[index + 1]) &&
        source.table === null &&
        !scope.aliases.has(source.name)
      ) {
        scope.aliases.set(source.name, { columns: source.columns, table: null });
      }
    });
  }

  #readSource(nodes: readonly Node[], at: number, scope: Scope): Source {
    const node = nodes[at];
    const next = nodes[at + 1];
    if (node?.kind === "variable") {
      const columns = this.#variables.get(node.text)?.columns ?? null;
      return { columns, table: null, name: node.text, end: at + 1 };
    }
    if (isGroup(node)) {
      const isQuery = isWord(node.nodes[0], "SELECT", "WITH");
      return {
        columns: isQuery ? this.#checkQuery(node.nodes, scope) : null,
        table: null,
        name: "",
        end: at + 1,
      };
    }
    if (isWord(node, "OPENJSON") && isGroup(next)) return this.#readJson(nodes, at);
    const qualified = qualifiedAt(nodes, at);
    if (qualified !== null) return this.#readObject(nodes, at, qualified);
    const name = isName(node) ? node.text : "";
    return { columns: findTable(scope, name), table: null, name, end: at + 1 };
  }

  #readJson(nodes: readonly Node[], at: number): Source {
    const list = nodes[at + 3];
    if (!isWord(nodes[at + 2], "WITH") || !isGroup(list)) {
      return {
        columns: namedColumns(["key", "value", "type"]),
        table: null,
        name: "",
        end: at + 2,
      };
    }
    const read = readColumns(list.nodes);
    this.faults.push(...read.faults);
    return { columns: read.columns, table: null, name: "", end: at + 4 };
  }

  #readObject(nodes: readonly Node[], at: number, name: string): Source {
    const call = nodes[at + 3];
    const func = this.#schema.functions.get(name);
    if (func !== undefined && isGroup(call)) {
      return { columns: func.columns, table: null, name, end: at + 4 };
    }
    const system = systemObjects.get(name);
    const relation = this.#schema.relations.get(name);
    const columns = relation?.columns ?? (system === undefined ? null : namedColumns(system));
    if (columns === null) this.#fault(nodes[at], "every table exists", name);
    return { columns, table: name, name, end: at + 3 };
  }

  /** An index that a hint names must be one of the table's. */
  #checkHints(nodes: readonly Node[], table: string | null): void {
    const [first, list] = nodes;
    if (!isWord(first, "WITH") || !isGroup(list)) return;
    list.nodes.forEach((node, index) => {
      const names = list.nodes[index + 1];
      if (!isWord(node, "INDEX") || !isGroup(names)) return;
      for (const name of names.nodes.filter(isName)) {
        if (this.#schema.indexes.get(name.text) !== table) {
          this.#fault(
            name,
            "a hint names an index of its table",
            `${name.text} on ${String(table)}`,
          );
        }
      }
    });
  }

  /** INSERT INTO, UPDATE and DELETE: checks the columns they write and what `inserted` and `deleted` stand for. */
  #readTarget(nodes: readonly Node[], scope: Scope): void {
    nodes.forEach((node, index) => {
      if (!isWord(node, "INSERT", "UPDATE", "DELETE", "INTO")) return;
      if (isWord(node, "INTO") && isWord(nodes[index - 1], "INSERT")) return;
      let at = index + 1;
      if (isWord(nodes[at], "TOP")) at += 2;
      if (isWord(nodes[at], "INTO", "FROM")) at += 1;
      const target = this.#readSource(nodes, at, scope);
      const alias = scope.aliases.get(target.name);
      const columns = target.columns ?? alias?.columns ?? null;
      if (isWord(node, "UPDATE") && isWord(nodes[target.end], "SET")) {
        this.#checkAssignments(nodes.slice(target.end + 1), columns);
      }
      if (isWord(node, "INSERT", "INTO")) {
        const list = isWord(nodes[target.end], "WITH") ? target.end + 2 : target.end; // behind its hints
        const count = this.#checkInsert(nodes[list], columns);
        if (isWord(node, "INTO")) this.#checkOutput(nodes.slice(0, index), count);
        else this.#checkCounts(nodes.slice(list + 1), count);
      }
      if (!isWord(node, "INTO")) {
        for (const row of ["inserted", "deleted"]) scope.aliases.set(row, { columns, table: null });
      }
    });
  }

  #checkAssignments(nodes: readonly Node[], columns: Columns | null): void {
    const end = nodes.findIndex(
      (node) => isWord(node, "FROM", "WHERE", "OUTPUT", "OPTION") || isSymbol(node, ";"),
    );
    for (const item of splitList(nodes.slice(0, end < 0 ? undefined : end))) {
      // `Column = ..`, `@Variable = Column = ..`; `@Variable = ..` alone writes no column.
      const name = item[0]?.kind === "variable" ? item[2] : item[0];
      if (!isName(name) || !isSymbol(item[item[0] === name ? 1 : 3], "=")) continue;
      if (columns !== null && !columns.has(name.text)) {
        this.#fault(name, "every column that is set exists", name.text);
      }
    }
  }

  /** The list of columns that are written; answers how many. */
  #checkInsert(list: Node | undefined, columns: Columns | null): number {
    if (!isGroup(list)) {
      this.#fault(list, "INSERT and OUTPUT INTO name their columns", "");
      return 0;
    }
    const names = list.nodes.filter(isName);
    for (const name of names) {
      if (columns !== null && !columns.has(name.text)) {
        this.#fault(name, "every column that is inserted exists", name.text);
      }
    }
    const given = new Set(names.map((name) => name.text));
    if (given.size !== names.length) this.#fault(list, "a column is inserted once", "");
    for (const [name, column] of columns ?? []) {
      if (column.isRequired && !given.has(name)) {
        this.#fault(list, "a column that must have a value gets one", name);
      }
    }
    return names.length;
  }

  /** OUTPUT hands over as many values as INTO has columns. */
  #checkOutput(before: readonly Node[], expected: number): void {
    const at = before.findLastIndex((node) => isWord(node, "OUTPUT"));
    const count = splitList(before.slice(at + 1)).length;
    if (at < 0 || count === expected) return;
    this.#fault(
      before[at],
      "as many values as columns",
      `${String(count)} for ${String(expected)}`,
    );
  }

  /** VALUES or SELECT gives as many values as there are columns. */
  #checkCounts(nodes: readonly Node[], expected: number): void {
    const at = nodes.findIndex((node) => isWord(node, "SELECT", "VALUES"));
    if (at < 0 || nodes.slice(0, at).some((node) => isWord(node, "FROM", "WHERE"))) return;
    const rows = isWord(nodes[at], "SELECT")
      ? [selectItems(nodes.slice(at)).length]
      : nodes
          .slice(at)
          .filter(isGroup)
          .map((row) => splitList(row.nodes).length);
    for (const count of rows) {
      if (count !== expected) {
        this.#fault(
          nodes[at],
          "as many values as columns",
          `${String(count)} for ${String(expected)}`,
        );
      }
    }
  }

  /** `alias.Column` at this level and, where no query of its own begins, below. */
  #checkReferences(nodes: readonly Node[], scope: Scope): void {
    nodes.forEach((node, index) => {
      if (isGroup(node)) {
        if (isWord(node.nodes[0], "SELECT", "WITH")) this.#checkQuery(node.nodes, scope);
        else this.#checkReferences(node.nodes, scope);
        return;
      }
      const name = nodes[index + 2];
      if (!isName(node) || !isSymbol(nodes[index + 1], ".") || isSymbol(nodes[index - 1], "."))
        return;
      if (!isName(name) || this.#isSchema(node.text) || isPartWrite(nodes, index)) return;
      const alias = findAlias(scope, node.text);
      if (alias === undefined) this.#fault(node, "every alias is declared", node.text);
      else if (alias.columns !== null && !alias.columns.has(name.text)) {
        this.#fault(name, "every column exists", `${node.text}.${name.text}`);
      }
    });
  }

  #isSchema(name: string): boolean {
    return this.#schema.others.has(name) || name === "sys";
  }

  #fault(node: Node | undefined, rule: string, message: string): void {
    this.faults.push({ line: node?.line ?? 0, rule, message });
  }
}

interface Scope {
  readonly aliases: Map<string, Alias>;
  /** Common table expressions. */
  readonly tables: Map<string, Columns | null>;
  readonly parent: Scope | null;
}

interface Alias {
  readonly columns: Columns | null;
  readonly table: string | null;
}

interface Source extends Alias {
  readonly name: string;
  /** Index of what follows. */
  readonly end: number;
}

function findAlias(scope: Scope | null, name: string): Alias | undefined {
  for (let at = scope; at !== null; at = at.parent) {
    const alias = at.aliases.get(name);
    if (alias !== undefined) return alias;
  }
  return undefined;
}

function findTable(scope: Scope | null, name: string): Columns | null {
  for (let at = scope; at !== null; at = at.parent) {
    const table = at.tables.get(name);
    if (table !== undefined) return table;
  }
  return null;
}
