import type { Cte, Expression, StatementNode } from "./ast";
import type {
  Assignment,
  Delete,
  Execute,
  ExecuteArgument,
  ExecuteText,
  Insert,
  InsertSource,
  Output,
  Target,
  Update,
} from "./ast-statements";
import { QueryParser } from "./query-parser";

/** Reads INSERT, UPDATE, DELETE and EXEC. The statement's own word has not been read yet. */
export abstract class ModificationParser extends QueryParser {
  /** What every statement begins with; counts it. */
  protected abstract begin(): Pick<StatementNode, "line" | "statementId">;

  protected insert(ctes: readonly Cte[]): Insert {
    const start = this.begin();
    this.need("INSERT");
    const top = this.top();
    this.need("INTO");
    const target = this.#target();
    const columns = this.optionalNameGroup();
    const output = this.#output();
    const source = this.#insertSource(columns);
    const options = this.queryHints();
    return { ...start, kind: "insert", ctes, top, target, columns, output, source, options };
  }

  #insertSource(columns: readonly string[] | undefined): InsertSource {
    if (this.take("DEFAULT", "VALUES")) return { kind: "defaults" };
    if (this.take("VALUES")) {
      const rows = this.list(() => this.group(() => this.#valueOrDefault()));
      this.checkWidth(rows, columns?.length ?? rows[0]?.length ?? 0);
      return { kind: "rows", rows };
    }
    if (this.is("EXEC") || this.is("EXECUTE")) return { kind: "execute", execute: this.execute() };
    if (!this.is("SELECT")) this.fail("VALUES, SELECT, EXEC or DEFAULT VALUES");
    return { kind: "query", query: this.query() };
  }

  #valueOrDefault(): Expression | undefined {
    return this.take("DEFAULT") ? undefined : this.expression();
  }

  protected update(ctes: readonly Cte[]): Update {
    const start = this.begin();
    this.need("UPDATE");
    const top = this.top();
    const target = this.#target();
    this.need("SET");
    const assignments = this.list(() => this.marked("setItem", () => this.#assignment()));
    const output = this.#output();
    const from = this.take("FROM") ? this.source() : undefined;
    const where = this.take("WHERE") ? this.predicate() : undefined;
    const options = this.queryHints();
    return {
      ...start,
      kind: "update",
      ctes,
      top,
      target,
      assignments,
      output,
      from,
      where,
      options,
    };
  }

  /** column = value, column.WRITE (value, offset, length), @v = value, @v = column = value. */
  #assignment(): Assignment {
    const line = this.line;
    if (this.next.kind !== "variable") {
      const column = this.name("a column");
      if (this.is(".", "WRITE", "(")) return this.#partAssignment(column, line);
      const operator = this.assignmentOperator();
      const value = this.#valueOrDefault();
      return { variable: undefined, column, operator, value, part: undefined, line };
    }
    const variable = this.variable();
    if (this.is("=") && this.isName(1) && this.isAssignment(2)) {
      this.need("=");
      const column = this.name();
      const operator = this.assignmentOperator();
      return { variable, column, operator, value: this.expression(), part: undefined, line };
    }
    const operator = this.assignmentOperator();
    const value = this.expression();
    return { variable, column: undefined, operator, value, part: undefined, line };
  }

  /** `.WRITE` names its column alone, not by the table or its alias [doc: UPDATE, .WRITE clause]. */
  #partAssignment(column: string, line: number): Assignment {
    this.need(".", "WRITE", "(");
    const value = this.expression();
    this.need(",");
    const offset = this.expression();
    this.need(",");
    const length = this.expression();
    this.need(")");
    return { variable: undefined, column, operator: "=", value, part: { offset, length }, line };
  }

  protected delete(ctes: readonly Cte[]): Delete {
    const start = this.begin();
    this.need("DELETE");
    const top = this.top();
    this.take("FROM");
    const target = this.#target();
    const output = this.#output();
    const from = this.take("FROM") ? this.source() : undefined;
    const where = this.take("WHERE") ? this.predicate() : undefined;
    const options = this.queryHints();
    return { ...start, kind: "delete", ctes, top, target, output, from, where, options };
  }

  #target(): Target {
    const line = this.line;
    if (this.next.kind === "variable") {
      return { kind: "tableVariable", name: this.variable(), line };
    }
    const name = this.objectName();
    return { kind: "named", name, hints: this.tableHints() };
  }

  #output(): Output | undefined {
    const line = this.line;
    if (!this.take("OUTPUT")) return undefined;
    const items = this.selectItems();
    if (!this.take("INTO")) return { items, into: undefined, line };
    const target = this.#target();
    return { items, into: { target, columns: this.optionalNameGroup() }, line };
  }

  /** EXEC procedure, EXEC @result = procedure, the same with a variable that holds the procedure's name, EXEC (text). */
  protected execute(): Execute | ExecuteText {
    const start = this.begin();
    if (!this.take("EXEC")) this.need("EXECUTE");
    if (this.take("(")) {
      const text = this.expression();
      this.need(")");
      return { ...start, kind: "executeText", text };
    }
    let result: string | undefined;
    if (this.next.kind === "variable" && this.peek(1).text === "=") {
      result = this.variable();
      this.need("=");
    }
    const isNamedByVariable = this.next.kind === "variable";
    const procedure = isNamedByVariable ? { variable: this.variable() } : this.objectName();
    const values = this.#startsArgument() ? this.list(() => this.#argument()) : [];
    const late = values.find(
      ({ name }, index) => name === undefined && values[index - 1]?.name !== undefined,
    );
    if (late !== undefined) {
      this.reject(late.line, "an argument without a name stands behind a named one (error 119)");
    }
    return { ...start, kind: "execute", procedure, result, arguments: values };
  }

  #startsArgument(): boolean {
    const { kind } = this.next;
    if (kind === "variable" || kind === "systemVariable" || this.isConstant()) return true;
    return this.is("-") || this.is("NULL") || this.is("DEFAULT");
  }

  /** Constants and variables only, as on a server. */
  #argument(): ExecuteArgument {
    const line = this.line;
    let name: string | undefined;
    if (this.next.kind === "variable" && this.peek(1).text === "=") {
      name = this.variable();
      this.need("=");
    }
    const value = this.#argumentValue();
    const isOutput = this.take("OUTPUT") || this.take("OUT");
    if (isOutput && value?.kind !== "variable") {
      this.reject(line, "OUTPUT needs a variable (error 179)");
    }
    return { name, value, isOutput, line };
  }

  #argumentValue(): ExecuteArgument["value"] {
    const { kind, line, upper } = this.next;
    if (this.take("DEFAULT")) return undefined;
    if (kind === "variable") return { kind, name: this.variable(), line };
    if (kind !== "systemVariable") return this.numbered(() => this.constantOrNull());
    if (upper !== "@@ROWCOUNT" && upper !== "@@SPID" && upper !== "@@TRANCOUNT") {
      this.fail("a variable of the server that is known here");
    }
    this.advance();
    return { kind, name: upper, line };
  }
}
