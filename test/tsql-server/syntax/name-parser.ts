import type { SqlType } from "../values";
import type { DataType, Literal, NullLiteral, ObjectName } from "./ast";
import { readConstant } from "./constants";
import type { Token } from "./lexer";
import { TokenReader } from "./token-reader";

type PlainTypeName = Extract<
  SqlType["name"],
  "bit" | "tinyint" | "smallint" | "int" | "bigint" | "float" | "uniqueidentifier"
>;

const plainTypes: ReadonlySet<string> = new Set<PlainTypeName>([
  "bit",
  "tinyint",
  "smallint",
  "int",
  "bigint",
  "float",
  "uniqueidentifier",
]);

/** Types with a length, and their greatest one; then whether `max` is allowed. */
const sizedTypes = {
  nvarchar: { most: 4000, hasMax: true },
  varchar: { most: 8000, hasMax: true },
  varbinary: { most: 8000, hasMax: true },
  nchar: { most: 4000, hasMax: false },
  char: { most: 8000, hasMax: false },
} as const;

/** Reads names of objects, types and constants. */
export class NameParser extends TokenReader {
  /** `name` or `schema.name`. */
  protected objectName(): ObjectName {
    const line = this.line;
    const first = this.name();
    if (!this.take(".")) return { schema: undefined, name: first, line };
    return { schema: first, name: this.name(), line };
  }

  /** Names in parentheses. */
  protected nameGroup(): string[] {
    return this.group(() => this.name());
  }

  protected optionalNameGroup(): string[] | undefined {
    return this.is("(") ? this.nameGroup() : undefined;
  }

  /** A type. Lengths must be written: without one it is 1 here and 30 there. One of our own needs its schema. */
  protected dataType(): DataType {
    if (this.peek(1).text === ".") return { kind: "named", name: this.objectName() };
    if (this.next.text.toLowerCase() === "datetimeoffset") {
      this.advance();
      return { kind: "datetimeoffset", scale: this.is("(") ? this.scale() : 7 };
    }
    return { kind: "scalar", type: this.sqlType() };
  }

  /** A type that columns may have. */
  protected sqlType(): SqlType {
    if (this.next.kind !== "word") this.fail("a type");
    const name = this.next.text.toLowerCase();
    if (isPlainType(name)) {
      this.advance();
      return { name };
    }
    if (isSizedType(name)) {
      this.advance();
      return { name, length: this.length(sizedTypes[name]) };
    }
    switch (name) {
      case "sysname":
        this.advance();
        return { name: "nvarchar", length: 128 };
      case "datetime":
        this.advance();
        return { name };
      case "datetime2":
        this.advance();
        return { name, scale: this.is("(") ? this.scale() : 7 };
      case "decimal":
      case "numeric":
        this.advance();
        return this.decimalType();
      default:
        return this.fail("a type");
    }
  }

  #decimalPart(least: number, most: number): number {
    const value = this.wholeNumber();
    if (value < least || value > most) {
      this.reject(this.previous.line, `expected ${String(least)}..${String(most)} in a decimal`);
    }
    return value;
  }

  private decimalType(): SqlType {
    if (!this.take("(")) return { name: "decimal", precision: 18, scale: 0 };
    const precision = this.#decimalPart(1, 38);
    const scale = this.take(",") ? this.#decimalPart(0, precision) : 0;
    this.need(")");
    return { name: "decimal", precision, scale };
  }

  private scale(): number {
    this.need("(");
    const scale = this.wholeNumber();
    if (scale > 7) this.reject(this.previous.line, "expected 0..7 digits of a second");
    this.need(")");
    return scale;
  }

  private length(bounds: { most: number; hasMax: boolean }): number | "max" {
    this.need("(");
    if (bounds.hasMax && this.take("MAX")) {
      this.need(")");
      return "max";
    }
    const length = this.wholeNumber();
    if (length < 1 || length > bounds.most) {
      this.reject(this.previous.line, `expected a length of 1..${String(bounds.most)}`);
    }
    this.need(")");
    return length;
  }

  /** Digits only. */
  protected wholeNumber(): number {
    if (this.next.kind !== "number" || !/^\d+$/.test(this.next.text)) this.fail("a whole number");
    return Number(this.advance().text);
  }

  /** Digits, perhaps with a sign. */
  protected signedNumber(): bigint {
    const isNegative = this.take("-");
    if (this.next.kind !== "number" || !/^\d+$/.test(this.next.text)) this.fail("a whole number");
    const value = BigInt(this.advance().text);
    return isNegative ? -value : value;
  }

  protected isConstant(distance = 0): boolean {
    const { kind } = this.peek(distance);
    return kind === "number" || kind === "string" || kind === "unicode" || kind === "binary";
  }

  /** Notes where a number stands, if one does. */
  protected numbered<Item>(read: () => Item): Item {
    const isNumber = this.next.kind === "number" || this.is("-");
    return isNumber ? this.marked("number", read) : read();
  }

  protected constant(): Literal {
    if (!this.isConstant()) this.fail("a constant");
    return this.#toLiteral(this.advance(), false);
  }

  /** A constant, perhaps negative, or NULL: what defaults and arguments of EXEC may be. */
  protected constantOrNull(): Literal | NullLiteral {
    const line = this.line;
    if (this.take("NULL")) return { kind: "null", line };
    if (!this.take("-")) return this.constant();
    if (this.next.kind !== "number") this.fail("a number");
    return this.#toLiteral(this.advance(), true);
  }

  #toLiteral(token: Token, isNegative: boolean): Literal {
    const constant = readConstant(token, isNegative);
    if (typeof constant === "string") this.reject(token.line, constant);
    return { kind: "literal", ...constant, line: token.line };
  }
}

function isPlainType(name: string): name is PlainTypeName {
  return plainTypes.has(name);
}

function isSizedType(name: string): name is keyof typeof sizedTypes {
  return Object.hasOwn(sizedTypes, name);
}
