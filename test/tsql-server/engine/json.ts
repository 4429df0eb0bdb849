import { SimulationError, SqlError } from "./sql-error";

/** JSON as SQL Server reads it: values keep their text, so that AS JSON and numbers come back as they were written. */

export type JsonValue =
  | {
      readonly kind: "object";
      readonly text: string;
      readonly members: readonly [string, JsonValue][];
    }
  | { readonly kind: "array"; readonly text: string; readonly items: readonly JsonValue[] }
  /** `text` is the string itself, not quoted. */
  | { readonly kind: "string" | "number" | "true" | "false" | "null"; readonly text: string };

const depthMax = 128;

class JsonReader {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): JsonValue | undefined {
    const value = this.#value();
    if (value === undefined) return undefined;
    this.#skipBlanks();
    return this.#at === this.#text.length ? value : undefined;
  }

  /** Where reading stopped. */
  get position(): number {
    return this.#at;
  }

  #skipBlanks(): void {
    for (; this.#at < this.#text.length; this.#at += 1) {
      const unit = this.#text.charCodeAt(this.#at);
      if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return;
    }
  }

  #value(): JsonValue | undefined {
    this.#skipBlanks();
    const sign = this.#text.charAt(this.#at);
    if (sign === "{") return this.#nested(() => this.#object());
    if (sign === "[") return this.#nested(() => this.#array());
    if (sign === '"') {
      const text = this.#string();
      return text === undefined ? undefined : { kind: "string", text };
    }
    for (const kind of ["true", "false", "null"] as const) {
      if (!this.#text.startsWith(kind, this.#at)) continue;
      this.#at += kind.length;
      return { kind, text: kind };
    }
    return this.#number();
  }

  #nested(read: () => JsonValue | undefined): JsonValue | undefined {
    if (this.#depth >= depthMax) return undefined;
    this.#depth += 1;
    const value = read();
    this.#depth -= 1;
    return value;
  }

  #take(sign: string): boolean {
    this.#skipBlanks();
    if (this.#text.charAt(this.#at) !== sign) return false;
    this.#at += 1;
    return true;
  }

  #object(): JsonValue | undefined {
    const start = this.#at;
    const members: [string, JsonValue][] = [];
    this.#at += 1;
    if (this.#take("}"))
      return { kind: "object", text: this.#text.slice(start, this.#at), members };
    do {
      this.#skipBlanks();
      const name = this.#text.charAt(this.#at) === '"' ? this.#string() : undefined;
      if (name === undefined || !this.#take(":")) return undefined;
      const value = this.#value();
      if (value === undefined) return undefined;
      members.push([name, value]);
    } while (this.#take(","));
    if (!this.#take("}")) return undefined;
    return { kind: "object", text: this.#text.slice(start, this.#at), members };
  }

  #array(): JsonValue | undefined {
    const start = this.#at;
    const items: JsonValue[] = [];
    this.#at += 1;
    if (this.#take("]")) return { kind: "array", text: this.#text.slice(start, this.#at), items };
    do {
      const value = this.#value();
      if (value === undefined) return undefined;
      items.push(value);
    } while (this.#take(","));
    if (!this.#take("]")) return undefined;
    return { kind: "array", text: this.#text.slice(start, this.#at), items };
  }

  #string(): string | undefined {
    const start = this.#at;
    let isEscaped = false;
    for (let at = start + 1; at < this.#text.length; at += 1) {
      const unit = this.#text.charCodeAt(at);
      if (unit === 0x5c) {
        isEscaped = true;
        at += 1;
      } else if (unit === 0x22) {
        this.#at = at + 1;
        return isEscaped
          ? unescape(this.#text.slice(start, at + 1))
          : this.#text.slice(start + 1, at);
      } else if (unit < 0x20) {
        this.#at = at;
        return undefined;
      }
    }
    this.#at = this.#text.length;
    return undefined;
  }

  #number(): JsonValue | undefined {
    const form = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
    form.lastIndex = this.#at;
    const match = form.exec(this.#text);
    if (match === null) return undefined;
    this.#at += match[0].length;
    return { kind: "number", text: match[0] };
  }
}

function unescape(quoted: string): string | undefined {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return undefined;
  }
}

/** The text that was read last: procedures ask of the same one several times. */
let last: { text: string; value: JsonValue | undefined; position: number } | undefined;

function readJson(text: string): { value: JsonValue | undefined; position: number } {
  if (last?.text !== text) {
    const reader = new JsonReader(text);
    const value = reader.read();
    last = { text, value, position: reader.position };
  }
  return last;
}

/** 1 for an object or array; a single value is none before SQL Server 2022. */
export function isJson(text: string): boolean {
  const { value } = readJson(text);
  return value !== undefined && (value.kind === "object" || value.kind === "array");
}

/** Raises 13609 for a text that is no object or array. */
export function parseJson(text: string): JsonValue {
  const { value, position } = readJson(text);
  if (value !== undefined && (value.kind === "object" || value.kind === "array")) return value;
  const place = value === undefined ? position : 0;
  throw new SqlError(
    13609,
    `JSON text is not properly formatted. Unexpected character '${text.charAt(place)}' is found at position ${place}.`,
    { state: 4 },
  );
}

export interface JsonPath {
  readonly steps: readonly (string | number)[];
  readonly isStrict: boolean;
}

const paths = new Map<string, JsonPath>();

export function parsePath(text: string): JsonPath {
  let path = paths.get(text);
  if (path === undefined) {
    path = readPath(text);
    paths.set(text, path);
  }
  return path;
}

function readPath(text: string): JsonPath {
  const match = /^\s*(lax\s+|strict\s+)?\$(.*)$/is.exec(text);
  const steps: (string | number)[] = [];
  const pattern = /\.([A-Za-z_][\w]*)|\."([^"]*)"|\[(\d+)\]/y;
  const rest = match?.[2] ?? "";
  while (match !== null && pattern.lastIndex < rest.length) {
    const step = pattern.exec(rest);
    if (step === null) throw new SimulationError(`JSON path ${text} isn't modelled`);
    steps.push(step[3] === undefined ? (step[1] ?? step[2] ?? "") : Number(step[3]));
  }
  if (match === null) throw new SimulationError(`JSON path ${text} isn't modelled`);
  return { steps, isStrict: (match[1] ?? "").toLowerCase().startsWith("strict") };
}

/** The value at a path; undefined where there is none (13608 under `strict`). */
export function follow(root: JsonValue, path: JsonPath): JsonValue | undefined {
  let value: JsonValue | undefined = root;
  for (const step of path.steps) {
    if (value === undefined) break;
    if (typeof step === "number") value = value.kind === "array" ? value.items[step] : undefined;
    else value = memberOf(value, step);
  }
  if (value === undefined && path.isStrict) {
    throw new SqlError(13608, "Property cannot be found on the specified JSON path.");
  }
  return value;
}

function memberOf(value: JsonValue, name: string): JsonValue | undefined {
  if (value.kind !== "object") return undefined;
  return value.members.find(([member]) => member === name)?.[1];
}

/** The text of a single value; undefined for NULL, objects and arrays. */
export function scalarText(value: JsonValue | undefined): string | undefined {
  if (value === undefined || value.kind === "null") return undefined;
  return value.kind === "object" || value.kind === "array" ? undefined : value.text;
}

/** The text of an object or array. */
export function fragmentText(value: JsonValue | undefined): string | undefined {
  return value?.kind === "object" || value?.kind === "array" ? value.text : undefined;
}

/** OPENJSON's column `type`. */
export function typeNumber(value: JsonValue): number {
  switch (value.kind) {
    case "null":
      return 0;
    case "string":
      return 1;
    case "number":
      return 2;
    case "true":
    case "false":
      return 3;
    case "array":
      return 4;
    case "object":
      return 5;
  }
}

const shortEscapes: Record<string, string> = {
  '"': '\\"',
  "\\": "\\\\",
  "/": "\\/",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
};

/** STRING_ESCAPE(text, 'json'): the solidus, too [doc: STRING_ESCAPE]. */
export function escapeJson(text: string): string {
  return text.replace(/["\\/]|[^ -\uffff]/g, (sign) => {
    const code = sign.charCodeAt(0).toString(16).padStart(4, "0");
    return shortEscapes[sign] ?? `\\u${code}`;
  });
}
