import { limits } from "./limits";

/*
 * Looks over a JSON text before it is parsed, in one pass without recursion and nearly without memory: how deep it is, how
 * many values it holds, and whether each number keeps its value as JavaScript's double. It is no parser: a text that isn't
 * JSON passes, or is refused for the part read so far; JSON.parse says the rest.
 */

/** The error of a text. */
export interface ScanProblem {
  /** Where, such as `tasks[3].payload.a`; empty: the whole. */
  readonly path: string;
  readonly value: string;
  readonly expected: string;
}

/** What a scan has found. */
export interface JsonScan {
  /** The first ones, at most 20. */
  readonly problems: readonly ScanProblem[];
  /** So many more numbers are changed. */
  readonly more: number;
}

/** Longest number that is looked at: a double needs 17 digits, and zeros before or behind them. */
const numberLengthMax = 400;
/** A number without exponent of so many characters has at most 15 digits, which every double keeps. */
const keptLengthMax = 15;
/** Steps of a path that are shown where it is deep. */
const shownStepsMax = 5;
/** Longest part of a name or a number that is shown. */
const shownLengthMax = 60;

/**
 * Refused are more than 105 levels of objects and arrays (100 of a payload and those around it), more than 200,000
 * values, and numbers that a double would change: `1e309`, `1e-400`, 25 digits. `0.1`, `1e24` and a double with
 * all its 17 digits are the same when they are written again; `-0` is kept as 0, which is the same number to both databases.
 */
export function scanJson(text: string): JsonScan {
  return new Scanner(text).run();
}

class Scanner {
  readonly #text: string;
  readonly #problems: ScanProblem[] = [];
  #more = 0;
  #values = 0;
  #depth = 0;
  /** The next text in this object is a name. */
  #isName = false;
  /** By level: the place in an array, or -1 in an object; there, where the name of the member begins. */
  readonly #places = new Int32Array(limits.jsonDepthMax + 1);
  readonly #names = new Int32Array(limits.jsonDepthMax + 1);
  /** It is too deep, has too many values, or isn't JSON. */
  #isOver = false;

  constructor(text: string) {
    this.#text = text;
  }

  run(): JsonScan {
    const text = this.#text;
    let at = 0;
    while (at < text.length && !this.#isOver) at = this.#step(at);
    return { problems: this.#problems, more: this.#more };
  }

  /** Takes the token that begins here; answers where the next may begin. */
  #step(at: number): number {
    const sign = this.#text[at] ?? "";
    if (sign === '"') return this.#takeText(at);
    if (sign === "{" || sign === "[") this.#enter(sign);
    else if (sign === "}" || sign === "]") this.#leave();
    else if (sign === ",") this.#goOn();
    else if (sign === "-" || (sign >= "0" && sign <= "9")) return this.#takeNumber(at);
    else if (sign === "t" || sign === "f" || sign === "n") return this.#takeWord(at);
    return at + 1;
  }

  #enter(sign: string): void {
    this.#countValue();
    if (this.#depth >= limits.jsonDepthMax) {
      const max = String(limits.jsonDepthMax);
      this.#end(this.#path(shownStepsMax), `more than ${max} levels`, `at most ${max} levels`);
      return;
    }
    this.#depth += 1;
    this.#places[this.#depth] = sign === "[" ? 0 : -1;
    this.#names[this.#depth] = -1;
    this.#isName = sign === "{";
  }

  #leave(): void {
    if (this.#depth === 0) this.#isOver = true;
    else this.#depth -= 1;
    this.#isName = false;
  }

  #goOn(): void {
    const place = this.#places[this.#depth] ?? -1;
    this.#isName = place < 0;
    if (place >= 0) this.#places[this.#depth] = place + 1;
  }

  #takeText(at: number): number {
    if (this.#isName) {
      this.#names[this.#depth] = at;
      this.#isName = false;
    } else this.#countValue();
    return endOfText(this.#text, at);
  }

  #takeWord(at: number): number {
    this.#countValue();
    return at + 4;
  }

  #takeNumber(at: number): number {
    this.#countValue();
    let end = at + 1;
    while (end < this.#text.length && isNumberSign(this.#text.charCodeAt(end))) end += 1;
    if (!isKept(this.#text.slice(at, end))) this.#refuseNumber(at, end);
    return end;
  }

  #refuseNumber(at: number, end: number): void {
    if (this.#problems.length >= limits.problemsMax) {
      this.#more += 1;
      return;
    }
    const value = cut(this.#text.slice(at, Math.min(end, at + shownLengthMax + 1)));
    const expected =
      "a number that a double keeps: at most 17 digits, between 5e-324 and 1.7e308; send others as texts";
    this.#problems.push({ path: this.#path(limits.jsonDepthMax), value, expected });
  }

  #countValue(): void {
    this.#values += 1;
    if (this.#values <= limits.jsonValuesMax) return;
    const max = String(limits.jsonValuesMax);
    this.#end("", `more than ${max} values`, `at most ${max} values; send it in parts`);
  }

  /** An error of the whole hides the errors of its numbers. */
  #end(path: string, value: string, expected: string): void {
    this.#problems.splice(0, Infinity, { path, value, expected });
    this.#more = 0;
    this.#isOver = true;
  }

  /** The way to here, of a long one the first steps. */
  #path(stepsMax: number): string {
    let path = "";
    const steps = Math.min(this.#depth, stepsMax);
    for (let level = 1; level <= steps; level += 1) {
      const place = this.#places[level] ?? -1;
      if (place >= 0) path += `[${String(place)}]`;
      else path += `${path === "" ? "" : "."}${this.#nameAt(this.#names[level] ?? -1)}`;
    }
    const isWhole = steps === this.#depth && path.length <= 4 * shownLengthMax;
    return isWhole ? path : `${path.slice(0, 3 * shownLengthMax)}..`;
  }

  #nameAt(at: number): string {
    if (at < 0) return "";
    const end = Math.min(endOfText(this.#text, at), at + shownLengthMax * 6);
    try {
      return cut(String(JSON.parse(this.#text.slice(at, end))));
    } catch {
      return cut(this.#text.slice(at + 1, end));
    }
  }
}

/** Behind the closing quotation mark, or the end of the whole. */
function endOfText(text: string, at: number): number {
  let end = at + 1;
  while (end < text.length) {
    const sign = text.charCodeAt(end);
    if (sign === 0x22) return end + 1;
    end += sign === 0x5c ? 2 : 1;
  }
  return end;
}

/** Digits, point, signs, e and E. */
function isNumberSign(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) ||
    code === 0x2e ||
    code === 0x2b ||
    code === 0x2d ||
    (code | 0x20) === 0x65
  );
}

/** Is it, written as a decimal again, the same number? What isn't a number passes: the parser says so. */
function isKept(token: string): boolean {
  if (token.length <= keptLengthMax && !/e/i.test(token)) return true;
  if (token.length > numberLengthMax) return false;
  const number = Number(token);
  // The two forms in which programs write a double, without taking the token apart.
  if (String(number) === token || number.toPrecision(17) === token) return true;
  const written = decimalOf(token);
  if (written === null) return true;
  if (written === decimalOf(String(number))) return true;
  // Other languages write a double with all its 17 digits, 0.1 as 0.10000000000000001: it is that double again.
  const digits = written.replace(/e.*$/, "").replace("-", "").length;
  return digits <= 17 && written === decimalOf(number.toPrecision(digits));
}

const numberForm = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Sign, digits without zeros at the ends, power of ten: equal for equal numbers. null: no number. */
function decimalOf(token: string): string | null {
  const parts = numberForm.exec(token);
  if (parts === null) return token.includes("Infinity") ? "infinite" : null;
  const [, sign = "", whole = "", fraction = "", power = "0"] = parts;
  const digits = (whole + fraction).replace(/^0+/, "");
  const kept = digits.replace(/0+$/, "");
  if (kept === "") return "0";
  return `${sign}${kept}e${String(Number(power) - fraction.length + digits.length - kept.length)}`;
}

function cut(text: string): string {
  return text.length <= shownLengthMax ? text : `${text.slice(0, shownLengthMax)}..`;
}
