import { InvalidArgumentError } from "../core/errors";
import type { ErrorCode } from "../core/errors";
import { describeProblems, ProblemList } from "./problem-list";
import type { Problem, Problems } from "./problem-list";

export type { Problem } from "./problem-list";

/** Reads values from outside and gathers every problem, instead of stopping at the first. */

/** A value that can be used, or everything that is wrong with the input. */
export type ReadResult<Value> =
  { readonly ok: true; readonly value: Value } | ({ readonly ok: false } & Problems);

/** Longest part of a bad value that is shown. */
const shownLengthMax = 100;

/** Shows a value in a problem: short, on one line. */
export function showValue(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "object") return describeObject(value);
  if (typeof value !== "string") return cut(value);
  return value.length <= shownLengthMax ? JSON.stringify(value) : `${JSON.stringify(cut(value))}..`;
}

/**
 * The value that was read. Throws InvalidArgumentError where there are problems; its `details.problems` has the
 * first 20 and `details.moreProblems` the number of others, its message the same as sentences.
 */
export function take<Value>(read: ReadResult<Value>): Value {
  if (read.ok) return read.value;
  throw invalid(read);
}

/** The error that stands for problems of a request. */
export function invalidInput(problems: readonly Problem[], code?: ErrorCode): InvalidArgumentError {
  return invalid({ problems }, code);
}

function invalid(found: Problems, code: ErrorCode = "TASKGATE_ARG_INVALID"): InvalidArgumentError {
  const { problems, more = 0 } = found;
  const details = more === 0 ? { problems } : { problems, moreProblems: more };
  return new InvalidArgumentError(describeProblems(found), { code, details });
}

/** The problems that an error carries; [] where it carries none. */
export function problemsOf(error: unknown): readonly Problem[] {
  const details: Record<string, unknown> =
    error instanceof InvalidArgumentError ? { ...error.details } : {};
  return Array.isArray(details["problems"]) ? (details["problems"] as Problem[]) : [];
}

/** How many problems an error counts beyond those that it lists. */
export function moreProblemsOf(error: unknown): number {
  const more = error instanceof InvalidArgumentError ? error.details["moreProblems"] : 0;
  return typeof more === "number" ? more : 0;
}

function cut(text: unknown): string {
  return String(text).slice(0, shownLengthMax);
}

function describeObject(value: object | null): string {
  if (value === null) return "null";
  return Array.isArray(value) ? `an array of ${String(value.length)}` : "an object";
}

/** What a text must be. */
export interface TextRule {
  /** UTF-16 units. */
  readonly min: number;
  readonly max: number;
  /** Blanks at the ends are refused. */
  readonly isKey?: boolean;
}

/** What a reader expects and where problems go. */
export interface ReaderOptions {
  /** Names of the members; others are problems. */
  readonly known: readonly string[];
  /** Put before the names of fields: `tasks[3]`. */
  readonly path?: string;
  /** What the whole input is called when it isn't an object; default `body`. */
  readonly root?: string;
  /** Where problems are gathered; default: a list of its own. */
  readonly problems?: ProblemList;
}

/** The members of one object, read one by one. */
export class ObjectReader {
  readonly problems: ProblemList;
  readonly #members: ReadonlyMap<string, unknown>;
  readonly #path: string;
  #isObject = true;

  private constructor(members: ReadonlyMap<string, unknown>, path: string, problems: ProblemList) {
    this.#members = members;
    this.#path = path;
    this.problems = problems;
  }

  /**
   * A reader of `input`. That it isn't an object, and members that `known` doesn't name, are problems.
   */
  static open(input: unknown, options: ReaderOptions): ObjectReader {
    const { known, path = "", root = "body", problems = new ProblemList() } = options;
    const members = new Map<string, unknown>();
    const reader = new ObjectReader(members, path, problems);
    if (typeof input !== "object" || input === null || Array.isArray(input)) {
      reader.#isObject = false;
      const names = known.length === 0 ? "" : ` with ${known.join(", ")}`;
      const field = path === "" ? root : path;
      reader.add({ field, value: showValue(input), expected: `a JSON object${names}` });
      return reader;
    }
    for (const [name, value] of Object.entries(input)) {
      if (known.includes(name)) members.set(name, value);
      else reader.#refuseUnknown(name, value, known);
    }
    return reader;
  }

  /** Has anything been wrong so far? */
  get isSound(): boolean {
    return this.problems.isEmpty;
  }

  /** The outcome: `value` when nothing was wrong. */
  result<Value>(value: Value): ReadResult<Value> {
    return this.isSound ? { ok: true, value } : { ok: false, ...this.problems.answer() };
  }

  /** Notes a problem with the member `name`. */
  refuse(name: string, expected: string): void {
    const value = this.#members.get(name);
    this.problems.add(() => ({ field: this.fieldOf(name), value: showValue(value), expected }));
  }

  /** Notes a problem. */
  add(problem: Problem): void {
    this.problems.add(problem);
  }

  /** The full name of a member. */
  fieldOf(name: string): string {
    return this.#path === "" ? name : `${this.#path}.${name}`;
  }

  /** Is there a member of that name, null counted as none? */
  has(name: string): boolean {
    const value = this.#members.get(name);
    return value !== undefined && value !== null;
  }

  /** Is the member there, and null? */
  isNull(name: string): boolean {
    return this.#members.get(name) === null;
  }

  /** Notes a problem when the member is missing from an object; null counts as there. */
  require(name: string, expected: string): void {
    if (!this.#members.has(name)) this.refuseMember(name, expected);
  }

  /** Notes a problem with a member, unless the input isn't an object: that is a problem already. */
  refuseMember(name: string, expected: string): void {
    if (this.#isObject) this.refuse(name, expected);
  }

  /** The member as it is; null where it is missing. */
  raw(name: string): unknown {
    return this.#members.get(name) ?? null;
  }

  /** A text, or null where it is missing or wrong. */
  text(name: string, rule: TextRule): string | null {
    if (!this.has(name)) return null;
    const value = this.#members.get(name);
    if (typeof value === "string" && isTextOf(value, rule)) return value;
    this.refuse(name, describeTextRule(rule));
    return null;
  }

  /** A text that must be there; "" where it isn't. */
  requiredText(name: string, rule: TextRule): string {
    if (!this.has(name)) this.refuseMember(name, describeTextRule(rule));
    return this.text(name, rule) ?? "";
  }

  /** A whole number in a range, or null where it is missing or wrong. */
  integer(name: string, range: { min: number; max: number }): number | null {
    if (!this.has(name)) return null;
    const value = this.#members.get(name);
    if (Number.isInteger(value) && Number(value) >= range.min && Number(value) <= range.max)
      return Number(value);
    this.refuse(name, `a whole number in ${String(range.min)}..${String(range.max)}`);
    return null;
  }

  /** One of some words, or null where it is missing or wrong. */
  choice<Word extends string>(name: string, words: readonly Word[]): Word | null {
    if (!this.has(name)) return null;
    const value = this.#members.get(name);
    const word = words.find((candidate) => candidate === value);
    if (word !== undefined) return word;
    const near = typeof value === "string" ? this.problems.nearTo(value, words) : "";
    this.refuse(name, `one of ${words.join(", ")}${near === "" ? "" : `.${near}`}`);
    return null;
  }

  #refuseUnknown(name: string, value: unknown, known: readonly string[]): void {
    this.problems.add(() => {
      const near = this.problems.nearTo(name, known);
      const names = known.length === 0 ? "no members" : `one of the members ${known.join(", ")}`;
      return {
        field: this.fieldOf(name.slice(0, shownLengthMax)),
        value: showValue(value),
        expected: near === "" ? names : `${names}.${near}`,
      };
    });
  }
}

/** Does a text keep to the rule, and can both databases store it? */
export function isTextOf(text: string, rule: TextRule): boolean {
  if (text.length < rule.min || text.length > rule.max) return false;
  if (rule.isKey === true && text.trim() !== text) return false;
  return isStorable(text);
}

/** What a rule expects, in words. */
export function describeTextRule(rule: TextRule): string {
  const blanks = rule.isKey === true ? " without blanks at either end" : "";
  return `a text of ${String(rule.min)}..${String(rule.max)} characters${blanks}, without U+0000 and lone surrogates`;
}

/** U+0000 can't be stored in PostgreSQL, half a surrogate pair not in UTF-8. */
export function isStorable(text: string): boolean {
  return !text.includes("\0") && !/\p{Surrogate}/u.test(text);
}
