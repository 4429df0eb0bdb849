import type {
  Aggregate,
  BuiltinName,
  Conversion,
  DateCall,
  Expression,
  OrderItem,
  Predicate,
  SearchedCase,
  UserCall,
  Window,
  WindowCall,
} from "./ast";
import { aggregates, builtins, dateFunctions, dateParts, windowFunctions } from "./builtins";
import { NameParser } from "./name-parser";

const conversions = ["CAST", "TRY_CAST", "CONVERT", "TRY_CONVERT"] as const;

/** Reads calls of functions: the closed list of the server's, and our own, which always have their schema. */
export abstract class CallParser extends NameParser {
  protected abstract expression(): Expression;
  protected abstract predicate(): Predicate;

  /** A call, if a word stands here with a parenthesis behind it. */
  protected optionalCall(): Expression | undefined {
    const { kind, upper } = this.next;
    if (kind !== "word" || this.peek(1).text !== "(") return undefined;
    const call = this.#call(upper);
    if (call === undefined)
      this.fail("a function of the server, or one of our own with its schema");
    return call;
  }

  #call(name: string): Expression | undefined {
    if (name === "IIF") return this.#conditional();
    const conversion = conversions.find((known) => known === name);
    if (conversion !== undefined) return this.#conversion(conversion);
    const aggregate = aggregates.find((known) => known === name);
    if (aggregate !== undefined) return this.#aggregate(aggregate);
    const windowFunction = windowFunctions.find((known) => known === name);
    if (windowFunction !== undefined) return this.#windowCall(windowFunction);
    if (isDateFunction(name)) return this.#dateCall(name);
    if (isBuiltin(name)) return this.#builtin(name);
    return undefined;
  }

  /** A call of our own function; its name has been read but for the parenthesis. */
  protected userCall(name: UserCall["name"]): UserCall {
    return { kind: "userCall", name, arguments: this.callArguments(), line: name.line };
  }

  /** Arguments of our own functions: all must be there, DEFAULT in place of one. */
  protected callArguments(): (Expression | undefined)[] {
    this.need("(");
    if (this.take(")")) return [];
    const items = this.list(() => (this.take("DEFAULT") ? undefined : this.expression()));
    this.need(")");
    return items;
  }

  #builtin(name: BuiltinName): Expression {
    const { line } = this.advance();
    this.need("(");
    const values = this.is(")") ? [] : this.list(() => this.expression());
    this.need(")");
    const [least, most] = builtins[name];
    if (values.length < least || values.length > most) {
      const expected = least === most ? String(least) : `${String(least)}..${String(most)}`;
      this.reject(line, `${name} takes ${expected} arguments, found ${String(values.length)}`);
    }
    return { kind: "builtin", name, arguments: values, line };
  }

  #dateCall(name: DateCall["name"]): DateCall {
    const { line } = this.advance();
    this.need("(");
    const part = this.needOneOf(dateParts, "a part of a date");
    const values: Expression[] = [];
    for (let index = 0; index < dateFunctions[name]; index += 1) {
      this.need(",");
      values.push(this.expression());
    }
    this.need(")");
    return { kind: "dateCall", name, part, arguments: values, line };
  }

  #conversion(name: (typeof conversions)[number]): Conversion {
    const { line } = this.advance();
    const isTry = name.startsWith("TRY_");
    this.need("(");
    if (name.endsWith("CAST")) {
      const operand = this.expression();
      this.need("AS");
      const target = this.dataType();
      this.need(")");
      return { kind: "conversion", target, operand, style: undefined, isTry, line };
    }
    const target = this.dataType();
    this.need(",");
    const operand = this.expression();
    const style = this.take(",") ? this.expression() : undefined;
    this.need(")");
    return { kind: "conversion", target, operand, style, isTry, line };
  }

  #conditional(): SearchedCase {
    const { line } = this.advance();
    this.need("(");
    const when = this.predicate();
    this.need(",");
    const then = this.expression();
    this.need(",");
    const otherwise = this.expression();
    this.need(")");
    return { kind: "searchedCase", branches: [{ when, then }], otherwise, line };
  }

  #aggregate(name: Aggregate["name"]): Aggregate {
    const { line } = this.advance();
    this.need("(");
    const isStar = name.startsWith("COUNT") && this.take("*");
    const isDistinct = !isStar && this.take("DISTINCT");
    const argument = isStar ? undefined : this.expression();
    let separator: Expression | undefined;
    if (name === "STRING_AGG") {
      this.need(",");
      separator = this.expression();
    }
    this.need(")");
    const withinGroup = name === "STRING_AGG" ? this.#withinGroup() : [];
    const over = this.is("OVER") ? this.#window() : undefined;
    return { kind: "aggregate", name, argument, isDistinct, separator, withinGroup, over, line };
  }

  #withinGroup(): OrderItem[] {
    if (!this.take("WITHIN")) return [];
    this.need("GROUP", "(", "ORDER", "BY");
    const items = this.list(() => this.orderItem());
    this.need(")");
    return items;
  }

  #windowCall(name: WindowCall["name"]): WindowCall {
    const { line } = this.advance();
    this.need("(", ")");
    const over = this.#window();
    if (over.orderBy.length === 0) this.reject(line, `${name} needs an ORDER BY in its OVER`);
    return { kind: "windowCall", name, over, line };
  }

  /** OVER (..). Frames (ROWS, RANGE) are not in the vocabulary. */
  #window(): Window {
    this.need("OVER", "(");
    const partitionBy = this.take("PARTITION", "BY") ? this.list(() => this.expression()) : [];
    const orderBy = this.orderBy();
    this.need(")");
    return { partitionBy, orderBy };
  }

  /** ORDER BY, or nothing. */
  protected orderBy(): OrderItem[] {
    const { start } = this.next;
    if (!this.take("ORDER", "BY")) return [];
    const items = this.list(() => this.orderItem());
    this.mark("orderBy", start);
    return items;
  }

  protected orderItem(): OrderItem {
    const { line, start } = this.next;
    const expression = this.expression();
    const isDescending = this.take("DESC");
    if (!isDescending) this.take("ASC");
    this.mark("orderItem", start);
    return { expression, isDescending, line };
  }
}

function isDateFunction(name: string): name is DateCall["name"] {
  return Object.hasOwn(dateFunctions, name);
}

function isBuiltin(name: string): name is BuiltinName {
  return Object.hasOwn(builtins, name);
}
