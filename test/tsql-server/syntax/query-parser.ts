import type {
  AssignmentOperator,
  Cte,
  Expression,
  Query,
  QueryBody,
  QueryHint,
  Select,
  SelectItem,
  SetOperation,
} from "./ast";
import { SourceParser } from "./source-parser";

const assignmentOperators: readonly AssignmentOperator[] = ["=", "+=", "-=", "*=", "/=", "%="];

/** Reads queries, their WITH and their OPTION. */
export abstract class QueryParser extends SourceParser {
  protected query(): Query {
    const line = this.line;
    const body = this.#unions();
    const orderBy = this.orderBy();
    const offset = orderBy.length > 0 && this.take("OFFSET") ? this.#rows("ROWS") : undefined;
    const fetch =
      offset !== undefined && this.take("FETCH", "NEXT") ? this.#rows("ROWS", "ONLY") : undefined;
    return { body, orderBy, offset, fetch, line };
  }

  #rows(...words: string[]): Expression {
    const count = this.expression();
    this.need(...words);
    return count;
  }

  #unions(): QueryBody {
    let left = this.#intersections();
    for (;;) {
      const line = this.line;
      const operator = this.#unionOperator();
      if (operator === undefined) return left;
      left = { kind: "setOperation", operator, left, right: this.#intersections(), line };
    }
  }

  #unionOperator(): SetOperation["operator"] | undefined {
    if (this.take("UNION", "ALL")) return "unionAll";
    if (this.take("UNION")) return "union";
    return this.take("EXCEPT") ? "except" : undefined;
  }

  #intersections(): QueryBody {
    let left: QueryBody = this.#select();
    for (;;) {
      const line = this.line;
      if (!this.take("INTERSECT")) return left;
      left = { kind: "setOperation", operator: "intersect", left, right: this.#select(), line };
    }
  }

  #select(): Select {
    const line = this.line;
    this.need("SELECT");
    const isDistinct = this.take("DISTINCT");
    const top = this.top();
    const items = this.selectItems();
    const from = this.take("FROM") ? this.source() : undefined;
    const where = this.take("WHERE") ? this.predicate() : undefined;
    const groupBy = this.take("GROUP", "BY") ? this.list(() => this.expression()) : [];
    const having = this.take("HAVING") ? this.predicate() : undefined;
    return { kind: "select", isDistinct, top, items, from, where, groupBy, having, line };
  }

  /** TOP (count), or nothing. */
  protected top(): Expression | undefined {
    const { start } = this.next;
    if (!this.take("TOP")) return undefined;
    this.need("(");
    const count = this.expression();
    this.need(")");
    this.mark("top", start);
    return count;
  }

  protected selectItems(): SelectItem[] {
    const line = this.line;
    const items = this.list(() => this.#selectItem());
    const assigned = items.filter((item) => item.kind === "assign").length;
    if (assigned > 0 && assigned < items.length) {
      this.reject(line, "a SELECT that assigns variables can't answer rows (error 141)");
    }
    return items;
  }

  #selectItem(): SelectItem {
    const { line, start } = this.next;
    if (this.take("*")) return { kind: "star", qualifier: undefined, line };
    if (this.isName() && this.peek(1).text === "." && this.peek(2).text === "*") {
      const qualifier = this.name();
      this.need(".", "*");
      return { kind: "star", qualifier, line };
    }
    if (this.next.kind === "variable" && this.isAssignment(1)) {
      const variable = this.variable();
      const operator = this.assignmentOperator();
      const value = this.expression();
      this.mark("assignment", start);
      return { kind: "assign", variable, operator, value, line };
    }
    return { kind: "value", value: this.expression(), alias: this.optionalAlias(), line };
  }

  /** Does an assignment operator stand there? In a list of columns `=` after a variable can be nothing else. */
  protected isAssignment(distance: number): boolean {
    const { kind, text } = this.peek(distance);
    return kind === "symbol" && assignmentOperators.some((operator) => operator === text);
  }

  protected assignmentOperator(): AssignmentOperator {
    const { kind, text } = this.next;
    const operator = assignmentOperators.find((known) => known === text);
    if (kind !== "symbol" || operator === undefined) this.fail("=");
    this.advance();
    return operator;
  }

  /** WITH name AS (..), .., or nothing. */
  protected ctes(): Cte[] {
    if (!this.take("WITH")) return [];
    return this.list(() => {
      const line = this.line;
      const name = this.name();
      const columns = this.optionalNameGroup();
      this.need("AS", "(");
      const query = this.query();
      this.need(")");
      return { name, columns, query, line };
    });
  }

  /** OPTION (..), or nothing. */
  protected queryHints(): QueryHint[] {
    return this.take("OPTION") ? this.group(() => this.#queryHint()) : [];
  }

  #queryHint(): QueryHint {
    if (this.take("FORCE", "ORDER")) return { kind: "forceOrder" };
    if (this.take("RECOMPILE")) return { kind: "recompile" };
    if (this.take("KEEPFIXED", "PLAN")) return { kind: "keepFixedPlan" };
    if (this.take("USE", "HINT"))
      return { kind: "useHint", values: this.group(() => String(this.constant().value)) };
    if (this.take("MAXDOP")) return { kind: "maxDop", value: this.wholeNumber() };
    if (this.take("MAXRECURSION")) return { kind: "maxRecursion", value: this.wholeNumber() };
    for (const algorithm of ["LOOP", "HASH", "MERGE"] as const) {
      if (this.take(algorithm, "JOIN")) return { kind: "joins", algorithms: [algorithm] };
    }
    if (!this.take("OPTIMIZE", "FOR")) this.fail("a query hint");
    if (this.take("UNKNOWN")) return { kind: "optimizeForUnknown" };
    const values = this.group(() => {
      const variable = this.variable();
      if (this.take("UNKNOWN")) return { variable, value: undefined };
      this.need("=");
      return { variable, value: this.constant() };
    });
    return { kind: "optimizeFor", values };
  }
}
