import { limits } from "../../shared/core/limits";

/** Bad values for each kind of field: what people and programs get wrong. */

/** What a field holds. */
export type FieldKind =
  | "key"
  | "text"
  | "integer"
  | "numeric text"
  | "choice"
  | "uuid"
  | "instant"
  | "payload"
  | "limit"
  | "task id"
  | "batch id"
  | "trace"
  | "object"
  | "event text"
  | "list of tasks"
  | "list of ids"
  | "boolean";

/** One field of an entry point. */
export interface Field {
  readonly name: string;
  readonly kind: FieldKind;
  /** Leaving it out is a mistake. */
  readonly isRequired?: boolean;
  readonly min?: number;
  readonly max?: number;
}

/** Stands for: leave the field out. */
export const missing = Symbol("missing");

/** A bad value with the name of its error. */
export type BadValue = readonly [title: string, value: unknown];

const notTexts: readonly BadValue[] = [
  ["a number", 5],
  ["true", true],
  ["an array", ["a"]],
  ["an object", { a: 1 }],
];
const unstorable: readonly BadValue[] = [
  ["U+0000", "a\u0000b"],
  ["half a surrogate pair", "a\ud800b"],
];
const untrimmed: readonly BadValue[] = [
  ["a blank in front", " a"],
  ["a blank behind", "a "],
  ["a no-break space behind", "a\u00a0"],
];

/** Everything that a field of this kind must refuse. */
export function badValuesOf(field: Field): BadValue[] {
  const left: BadValue[] = field.isRequired === true ? [["left out", missing]] : [];
  return [...left, ...valuesOf(field)];
}

function valuesOf(field: Field): readonly BadValue[] {
  switch (field.kind) {
    case "key":
      return [
        ...notTexts,
        ...unstorable,
        ...untrimmed,
        ["empty", ""],
        ["too long", "x".repeat(201)],
      ];
    case "text":
      return [...notTexts, ...unstorable, ["empty", ""], ["too long", "x".repeat(401)]];
    case "event text":
      return [...notTexts, ...unstorable, ["empty", ""], ["too long", "x".repeat(2_001)]];
    case "integer":
      return integers(field);
    case "numeric text":
      return numericTexts(field);
    case "choice":
      return [
        ["another word", "Nonsense"],
        ["empty", ""],
        ["a number", 5],
        ["an array", ["ready"]],
      ];
    case "uuid":
      return [
        ...notTexts,
        ["not a UUID", "17"],
        ["braces", "{01234567-89ab-cdef-0123-456789abcdef}"],
      ];
    case "instant":
      return [
        ...notTexts,
        ["no zone", "2026-01-31T08:30:00"],
        ["no such day", "2026-02-30T08:30:00Z"],
        ["words", "tomorrow"],
      ];
    case "trace":
      return [...notTexts, ["not a traceparent", "00-1-2-3"]];
    case "payload":
      return payloads();
    case "limit":
      return [
        ["negative", -1],
        ["too great", limits.tokensMax + 1],
        ["a fraction", 1.5],
        ["a text", "4"],
        ["another word", "none"],
        ["an object", {}],
      ];
    case "task id":
    case "batch id":
      return [
        ["words", "abc"],
        ["negative", "-1"],
        ["20 digits", "1".repeat(20)],
        ["beyond 64 bits", "9223372036854775808"],
        ["a fraction", "1.5"],
        ["empty", ""],
      ];
    case "object":
      return [
        ["a text", "x"],
        ["a number", 5],
        ["an array", []],
      ];
    case "boolean":
      return [
        ["a text", "true"],
        ["a number", 1],
        ["an array", [true]],
      ];
    case "list of ids":
      return [
        ["empty", []],
        ["an object", {}],
        ["an id alone", "1"],
        ["words", ["abc"]],
        ["beyond 64 bits", ["9223372036854775808"]],
        ["a fraction", [1.5]],
        ["an empty text", ["1", ""]],
        ["too many", Array.from({ length: 1_001 }, (_, index) => String(index + 1))],
      ];
    case "list of tasks":
      return [
        ["empty", []],
        ["an object", {}],
        ["a text", "x"],
        ["too many", Array.from({ length: limits.enqueueTasksMax + 1 }, () => ({ payload: null }))],
        ["too many bytes", Array.from({ length: 200 }, () => ({ payload: ["x".repeat(60_000)] }))],
      ];
  }
}

function integers({ min = 0, max = 0 }: Field): BadValue[] {
  return [
    ["too small", min - 1],
    ["too great", max + 1],
    ["a fraction", min + 0.5],
    ["a text", String(max)],
    ["true", true],
    ["an array", [min]],
  ];
}

function numericTexts({ min = 0, max = 0 }: Field): BadValue[] {
  return [
    ["too small", String(min - 1)],
    ["too great", String(max + 1)],
    ["a fraction", "1.5"],
    ["words", "many"],
    ["hexadecimal", "0x10"],
    ["an exponent", "1e2"],
    ["empty", ""],
  ];
}

function payloads(): BadValue[] {
  return [
    ["a text", "text"],
    ["a number", 5],
    ["true", true],
    ["too large", { text: "x".repeat(limits.payloadBytesMax) }],
    ["too large in UTF-8 only", ["ß".repeat(limits.payloadBytesMax / 2)]],
    ["U+0000", { a: "\u0000" }],
    ["U+0000 in a name", { "\u0000": 1 }],
    ["half a surrogate pair", ["\udc00"]],
    ["nested too deep", JSON.parse("[".repeat(1_000) + "]".repeat(1_000))],
  ];
}
