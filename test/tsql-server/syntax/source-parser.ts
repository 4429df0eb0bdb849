import type {
  Expression,
  Join,
  LockHint,
  ObjectName,
  OpenJsonColumn,
  OpenJsonSource,
  Source,
  TableHints,
} from "./ast";
import { ExpressionParser } from "./expression-parser";

const lockHints: readonly LockHint[] = [
  "HOLDLOCK",
  "NOLOCK",
  "NOWAIT",
  "PAGLOCK",
  "READCOMMITTED",
  "READCOMMITTEDLOCK",
  "READPAST",
  "READUNCOMMITTED",
  "REPEATABLEREAD",
  "ROWLOCK",
  "SERIALIZABLE",
  "SNAPSHOT",
  "TABLOCK",
  "TABLOCKX",
  "UPDLOCK",
  "XLOCK",
];

const noHints: TableHints = {
  locks: [],
  index: undefined,
  isForceSeek: false,
  seekColumns: undefined,
};

interface JoinForm {
  readonly words: readonly string[];
  readonly type: Join["type"];
  readonly isLoop?: true;
}

const joinForms: readonly JoinForm[] = [
  { words: ["JOIN"], type: "inner" },
  { words: ["INNER", "JOIN"], type: "inner" },
  { words: ["INNER", "LOOP", "JOIN"], type: "inner", isLoop: true },
  { words: ["LEFT", "JOIN"], type: "left" },
  { words: ["LEFT", "OUTER", "JOIN"], type: "left" },
  { words: ["LEFT", "LOOP", "JOIN"], type: "left", isLoop: true },
  { words: ["RIGHT", "JOIN"], type: "right" },
  { words: ["FULL", "JOIN"], type: "full" },
  { words: ["CROSS", "JOIN"], type: "cross" },
];

/** Reads the sources behind FROM. An alias needs its AS: without it a misspelt keyword would pass for one. */
export abstract class SourceParser extends ExpressionParser {
  /** Sources joined from left to right; each ON belongs to the join before it. */
  protected source(): Source {
    let left = this.#single();
    for (;;) {
      const joined = this.#apply(left) ?? this.#join(left);
      if (joined === undefined) return left;
      left = joined;
    }
  }

  #apply(left: Source): Source | undefined {
    const line = this.line;
    const isOuter = this.take("OUTER", "APPLY");
    if (!isOuter && !this.take("CROSS", "APPLY")) return undefined;
    return { kind: "apply", isOuter, left, right: this.#single(), line };
  }

  #join(left: Source): Join | undefined {
    const line = this.line;
    const form = joinForms.find(({ words }) => this.take(...words));
    if (form === undefined) return undefined;
    const right = this.#single();
    if (form.type !== "cross") this.need("ON");
    const on = form.type === "cross" ? undefined : this.predicate();
    return { kind: "join", type: form.type, isLoop: form.isLoop ?? false, left, right, on, line };
  }

  #single(): Source {
    const line = this.line;
    if (this.is("(", "VALUES")) return this.#values();
    if (this.take("(")) return this.#derived(line);
    if (this.is("OPENJSON", "(")) return this.#openJson();
    if (this.next.kind === "variable") {
      return { kind: "tableVariable", name: this.variable(), alias: this.optionalAlias(), line };
    }
    const name = this.objectName();
    if (this.is("(")) return this.#function(name);
    return { kind: "table", name, alias: this.optionalAlias(), hints: this.tableHints(), line };
  }

  #function(name: ObjectName): Source {
    if (lockHints.some((hint) => this.is("(", hint))) this.fail("WITH before a hint");
    if (name.schema === undefined) this.fail("a function of our own with its schema");
    const values = this.callArguments();
    return {
      kind: "function",
      name,
      arguments: values,
      alias: this.optionalAlias(),
      line: name.line,
    };
  }

  #derived(line: number): Source {
    const query = this.query();
    this.need(")", "AS");
    const alias = this.name("an alias");
    return { kind: "derived", query, alias, columns: this.optionalNameGroup(), line };
  }

  #values(): Source {
    const line = this.line;
    this.need("(", "VALUES");
    const rows = this.list(() => this.group(() => this.expression()));
    this.need(")", "AS");
    const alias = this.name("an alias");
    const columns = this.nameGroup();
    this.checkWidth(rows, columns.length);
    return { kind: "values", rows, alias, columns, line };
  }

  /** All rows of VALUES are of one width. */
  protected checkWidth(rows: readonly (readonly unknown[])[], width: number): void {
    const wrong = rows.find((row) => row.length !== width);
    if (wrong === undefined) return;
    this.reject(
      this.previous.line,
      `expected rows of ${String(width)} values, found one of ${String(wrong.length)}`,
    );
  }

  #openJson(): OpenJsonSource {
    const line = this.line;
    this.need("OPENJSON", "(");
    const json = this.expression();
    const path: Expression | undefined = this.take(",") ? this.expression() : undefined;
    this.need(")");
    const columns = this.take("WITH") ? this.group(() => this.#openJsonColumn()) : undefined;
    return { kind: "openJson", json, path, columns, alias: this.optionalAlias(), line };
  }

  #openJsonColumn(): OpenJsonColumn {
    const line = this.line;
    const name = this.name();
    const type = this.sqlType();
    const collation = this.take("COLLATE") ? this.name("a collation") : undefined;
    const isPath = this.next.kind === "string" || this.next.kind === "unicode";
    const path = isPath ? this.advance().text : `$.${name}`;
    const isJson = this.take("AS", "JSON");
    if (isJson && !(type.name === "nvarchar" && type.length === "max")) {
      this.reject(line, "AS JSON needs a column of nvarchar(max)");
    }
    return { name, type, collation, path, isJson, line };
  }

  protected optionalAlias(): string | undefined {
    return this.take("AS") ? this.name("an alias") : undefined;
  }

  /** WITH (..), or nothing. */
  protected tableHints(): TableHints {
    const { start } = this.next;
    if (!this.take("WITH")) return noHints;
    const locks: LockHint[] = [];
    let index: string | undefined;
    let isForceSeek = false;
    let seekColumns: string[] | undefined;
    const readHint = (): void => {
      if (this.is("INDEX")) {
        if (index !== undefined) this.fail("one index");
        index = this.#indexHint();
      } else if (this.take("FORCESEEK")) {
        if (isForceSeek) this.fail("each hint once");
        isForceSeek = true;
        if (!this.take("(")) return;
        if (index !== undefined) this.fail("one index");
        index = this.name("an index");
        seekColumns = this.nameGroup();
        this.need(")");
      } else {
        const hint = this.needOneOf(lockHints, "a table hint");
        if (locks.includes(hint)) this.reject(this.previous.line, `${hint} is written twice`);
        locks.push(hint);
      }
    };
    this.group(() => {
      this.marked("hint", readHint);
    });
    this.mark("hints", start);
    return { locks, index, isForceSeek, seekColumns };
  }

  /** INDEX (name) or INDEX = name. */
  #indexHint(): string {
    this.need("INDEX");
    if (this.take("=")) return this.name("an index");
    this.need("(");
    const name = this.name("an index");
    this.need(")");
    return name;
  }
}
