import type {
  ArithmeticOperator,
  Comparison,
  Expression,
  Predicate,
  Query,
  SystemVariable,
} from "./ast";
import { systemVariables } from "./builtins";
import { CallParser } from "./call-parser";

type Term = Expression | Predicate;

const predicateKinds: ReadonlySet<string> = new Set<Predicate["kind"]>([
  "and",
  "or",
  "not",
  "comparison",
  "isNull",
  "between",
  "like",
  "inList",
  "inQuery",
  "exists",
]);

const comparisons: ReadonlyMap<string, Comparison["operator"]> = new Map([
  ["=", "="],
  ["<>", "<>"],
  ["!=", "<>"],
  ["<", "<"],
  ["<=", "<="],
  [">", ">"],
  [">=", ">="],
]);

/**
 * Reads values and conditions by precedence [doc: Operator Precedence (Transact-SQL)]. Parentheses may hold either, so
 * both are read by one set of rules, and each place then says which of them it takes.
 */
export abstract class ExpressionParser extends CallParser {
  protected abstract query(): Query;

  protected expression(): Expression {
    const line = this.line;
    return this.#asExpression(this.#disjunction(), line);
  }

  protected predicate(): Predicate {
    const { line, start } = this.next;
    const predicate = this.#asPredicate(this.#disjunction(), line);
    if (predicate.kind !== "and" && predicate.kind !== "or") this.mark("condition", start);
    return predicate;
  }

  /** Does a value start here? Where one may be missing: RETURN. */
  protected startsExpression(): boolean {
    const { kind, upper } = this.next;
    if (kind === "variable" || kind === "systemVariable" || this.isConstant()) return true;
    if (kind === "symbol") return upper === "(" || upper === "-" || upper === "+" || upper === "~";
    return upper === "CASE" || upper === "NULL" || this.peek(1).text === "(" || this.isQualified();
  }

  private isQualified(): boolean {
    return this.isName() && this.peek(1).text === ".";
  }

  #asExpression(term: Term, line: number): Expression {
    if (isPredicate(term)) this.reject(line, "expected a value, found a condition");
    return term;
  }

  #asPredicate(term: Term, line: number): Predicate {
    if (!isPredicate(term)) this.reject(line, "expected a condition, found a value");
    return term;
  }

  #disjunction(): Term {
    return this.#joined("OR", () => this.#conjunction());
  }

  #conjunction(): Term {
    return this.#joined("AND", () => this.#negation());
  }

  #joined(word: "AND" | "OR", read: () => Term): Term {
    const kind = word === "AND" ? "and" : "or";
    let { start } = this.next;
    let left = read();
    for (let isJoined = false; ; isJoined = true) {
      const { line, start: end } = this.next;
      const isFollowed = this.is(word);
      if (isJoined || isFollowed) this.mark(kind === "and" ? "conjunct" : "disjunct", start);
      if (!isFollowed) return left;
      this.advance();
      this.mark("connective", end);
      const first = this.#asPredicate(left, line);
      start = this.next.start;
      left = { kind, left: first, right: this.#asPredicate(read(), line), line };
    }
  }

  #negation(): Term {
    const { line, start } = this.next;
    if (!this.take("NOT")) return this.#comparison();
    this.mark("not", start);
    return { kind: "not", operand: this.#asPredicate(this.#negation(), line), line };
  }

  #comparison(): Term {
    const line = this.line;
    if (this.take("EXISTS")) return { kind: "exists", query: this.#queryInParentheses(), line };
    const term = this.#sum();
    const operator = this.next.kind === "symbol" ? comparisons.get(this.next.text) : undefined;
    if (operator !== undefined) {
      const left = this.#asExpression(term, line);
      this.marked("comparison", () => this.advance());
      return { kind: "comparison", operator, left, right: this.#value(), line };
    }
    return this.#test(term, line) ?? term;
  }

  /** IS, IN, BETWEEN and LIKE behind a value. */
  #test(term: Term, line: number): Predicate | undefined {
    if (this.take("IS")) {
      const operand = this.#asExpression(term, line);
      const isNegated = this.#takeNot();
      this.need("NULL");
      return { kind: "isNull", operand, isNegated, line };
    }
    const isNegated = this.is("NOT");
    const word = this.peek(isNegated ? 1 : 0);
    if (word.kind !== "word" || !["IN", "BETWEEN", "LIKE"].includes(word.upper)) return undefined;
    const operand = this.#asExpression(term, line);
    this.#takeNot();
    this.advance();
    switch (word.upper) {
      case "IN":
        return this.#membership(operand, { isNegated, line });
      case "BETWEEN": {
        const low = this.#value();
        this.need("AND");
        return { kind: "between", operand, low, high: this.#value(), isNegated, line };
      }
      default: {
        const pattern = this.#value();
        const escape = this.take("ESCAPE") ? this.#value() : undefined;
        return { kind: "like", operand, pattern, escape, isNegated, line };
      }
    }
  }

  #takeNot(): boolean {
    const { start } = this.next;
    if (!this.take("NOT")) return false;
    this.mark("not", start);
    return true;
  }

  #membership(operand: Expression, about: { isNegated: boolean; line: number }): Predicate {
    if (this.is("(", "SELECT")) {
      return { kind: "inQuery", operand, query: this.#queryInParentheses(), ...about };
    }
    return { kind: "inList", operand, values: this.group(() => this.#value()), ...about };
  }

  /** A value beside a comparison: no condition without parentheses, so none at all. */
  #value(): Expression {
    const line = this.line;
    return this.#asExpression(this.#sum(), line);
  }

  #sum(): Term {
    return this.#operators(["+", "-", "&", "|", "^"], () => this.#product());
  }

  #product(): Term {
    return this.#operators(["*", "/", "%"], () => this.#signed());
  }

  #operators(operators: readonly ArithmeticOperator[], read: () => Term): Term {
    let left = read();
    for (;;) {
      const { kind, text, line } = this.next;
      const operator = kind === "symbol" ? operators.find((known) => known === text) : undefined;
      if (operator === undefined) return left;
      const first = this.#asExpression(left, line);
      this.advance();
      const second = this.#asExpression(read(), line);
      left = { kind: "arithmetic", operator, left: first, right: second, line };
    }
  }

  /** A sign binds less than a product: -100 / -100 * 10 is -(100 / -(100 * 10)), as on a server. */
  #signed(): Term {
    const { line } = this.next;
    if (this.take("~")) {
      return {
        kind: "unary",
        operator: "~",
        operand: this.#asExpression(this.#signed(), line),
        line,
      };
    }
    for (const operator of ["-", "+"] as const) {
      if (!this.take(operator)) continue;
      return { kind: "unary", operator, operand: this.#asExpression(this.#product(), line), line };
    }
    return this.#collated();
  }

  #collated(): Term {
    const { line } = this.next;
    let term = this.#primary();
    while (this.take("COLLATE")) {
      const operand = this.#asExpression(term, line);
      term = { kind: "collate", operand, collation: this.name("a collation"), line };
    }
    return term;
  }

  #primary(): Term {
    const { kind, line, text } = this.next;
    if (this.isConstant()) return this.numbered(() => this.constant());
    if (kind === "variable") {
      this.advance();
      return { kind: "variable", name: text, line };
    }
    if (kind === "systemVariable") return this.#systemVariable();
    if (this.is("(", "SELECT"))
      return { kind: "subquery", query: this.#queryInParentheses(), line };
    if (this.take("(")) {
      const term = this.#disjunction();
      this.need(")");
      return term;
    }
    if (this.take("NULL")) return { kind: "null", line };
    if (this.is("CASE")) return this.#case();
    if (this.is("NEXT", "VALUE", "FOR")) return this.#nextValue();
    return this.optionalCall() ?? this.#column();
  }

  #systemVariable(): SystemVariable {
    const { upper, line } = this.next;
    const name = systemVariables.find((known) => known === upper);
    if (name === undefined) this.fail("a variable of the server that is known here");
    this.advance();
    return { kind: "systemVariable", name, line };
  }

  #case(): Expression {
    const { line } = this.advance();
    if (this.is("WHEN")) {
      const branches = this.#branches(() => this.predicate());
      return { kind: "searchedCase", branches, otherwise: this.#endOfCase(), line };
    }
    const input = this.expression();
    const branches = this.#branches(() => this.expression());
    return { kind: "simpleCase", input, branches, otherwise: this.#endOfCase(), line };
  }

  #branches<When>(readWhen: () => When): { when: When; then: Expression }[] {
    const branches: { when: When; then: Expression }[] = [];
    do {
      this.need("WHEN");
      const when = readWhen();
      this.need("THEN");
      branches.push({ when, then: this.expression() });
    } while (this.is("WHEN"));
    return branches;
  }

  #endOfCase(): Expression | undefined {
    const otherwise = this.take("ELSE") ? this.expression() : undefined;
    this.need("END");
    return otherwise;
  }

  #nextValue(): Expression {
    const { line } = this.next;
    this.need("NEXT", "VALUE", "FOR");
    const sequence = this.objectName();
    if (!this.take("OVER")) return { kind: "nextValue", sequence, orderBy: [], line };
    this.need("(");
    const orderBy = this.orderBy();
    if (orderBy.length === 0) this.fail("ORDER BY");
    this.need(")");
    return { kind: "nextValue", sequence, orderBy, line };
  }

  /** A column, or a call of our own function: both may be two names with a point. */
  #column(): Expression {
    const { line } = this.next;
    const first = this.name("a value");
    if (!this.take(".")) return { kind: "column", qualifier: undefined, name: first, line };
    const name = this.name();
    if (this.is("(")) return this.userCall({ schema: first, name, line });
    return { kind: "column", qualifier: first, name, line };
  }

  #queryInParentheses(): Query {
    this.need("(");
    const query = this.query();
    this.need(")");
    return query;
  }
}

function isPredicate(term: Term): term is Predicate {
  return predicateKinds.has(term.kind);
}
