import { z } from "zod";
import { asBatchId, asOperationId, asTaskId, isId } from "../core/ids";
import { limits } from "../core/limits";
import { describeTextRule, isTextOf } from "./text-rule";
import type { TextRule } from "./text-rule";
import { payloadText } from "./payload";

/** Schemas of the members that several requests have. Each names the expected value in its error. */

/** Names, kinds, group and dedupe keys: characters are UTF-16 units, as both databases count at least. */
export const keyRule = { min: 1, max: limits.nameLengthMax, isKey: true } as const;

/** A text that both databases can store. `what`: said before the rule. */
export function text(rule: TextRule, what = "") {
  return z
    .string(what + describeTextRule(rule))
    .min(rule.min)
    .max(rule.max)
    .refine((value) => isTextOf(value, rule))
    .meta({
      pattern: rule.isKey === true ? "^[^\\s\\u0000]([^\\u0000]*[^\\s\\u0000])?$" : "^[^\\u0000]+$",
    });
}

/** A whole number. */
export function whole(min: number, max: number) {
  return z
    .int(`a whole number in ${String(min)}..${String(max)}`)
    .min(min)
    .max(max);
}

/** One of some words. */
export function oneOf<const Words extends readonly string[]>(...words: Words) {
  return z.enum(words, `one of ${words.join(", ")}`);
}

/** A list that isn't read where it is too long: its items may be many. */
export function listOf<Item extends z.ZodType>(item: Item, max: number, expected: string) {
  const refuseLong = (given: unknown): unknown =>
    Array.isArray(given) && given.length > max ? undefined : given;
  return z.preprocess(refuseLong, z.array(item, expected).min(1).max(max));
}

/** True or false. */
export const flag = z.boolean("true or false");

/** Names, kinds, group and dedupe keys. */
export const key = text(keyRule);

/** Why an operator did something: fits the audit's column. */
export const reason = text({ min: 1, max: limits.reasonLengthMax })
  .meta({ description: "Why, for the audit." })
  .exactOptional();

/** The scope of a group. */
export const groupScope = oneOf("definition", "global");

/** The text of a 64-bit id. */
function idText(expected: string) {
  return z
    .string(expected)
    .regex(/^[0-9]{1,19}$/)
    .refine(isId)
    .meta({ description: "Below 2^63." });
}

/** An id that may come as a number, as far as it is exact. */
const exactText = (given: unknown): unknown =>
  Number.isSafeInteger(given) ? String(given) : given;

/** A version of a watermark. */
export const version = z.preprocess(
  exactText,
  idText("a version as the list shows it: 1..19 decimal digits, below 2^63"),
);

/** A task's id. */
export const taskId = z.preprocess(
  exactText,
  idText("the id of a task: 1..19 decimal digits, below 2^63").transform(asTaskId),
);

/** A batch's id. */
export const batchId = idText("the id of a batch: 1..19 decimal digits, below 2^63").transform(
  asBatchId,
);

/** What a list of ids must be. */
export const taskIdsRule = `an array of 1..${String(limits.idsMax)} ids of tasks: texts of 1..19 decimal digits, below 2^63`;

/** Ids of tasks. */
export const taskIds = listOf(taskId, limits.idsMax, taskIdsRule);

/** What a caller keeps for repeats. */
export const operationId = z
  .guid("a UUID made at random for this call and kept for its repeats")
  .transform((given) => asOperationId(given.toLowerCase()))
  .meta({
    description: "Made for this call: a repeat with it answers what the first call did.",
  })
  .exactOptional();

/** ISO-8601 with seconds and a zone: without a zone it would mean another instant on another machine. */
const instantForm = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/;

/** An instant. */
export const instant = z
  .string("an instant such as 2026-01-31T08:30:00Z, with its zone")
  .refine((given) => instantForm.test(given) && isRealDay(given))
  .transform((given) => new Date(given))
  .meta({ format: "date-time" });

/** Date takes the 31st of any month and means the day after its last. Databases know the years from 1 to 9999. */
function isRealDay(given: string): boolean {
  const [year, month, day] = given.slice(0, 10).split("-").map(Number);
  const date = new Date(`${given.slice(0, 10)}T00:00:00Z`);
  const inUtc = new Date(given).getUTCFullYear();
  return (
    inUtc >= 1 &&
    inUtc <= 9999 &&
    date.getUTCFullYear() === year &&
    date.getUTCMonth() + 1 === month &&
    date.getUTCDate() === day
  );
}

/** How many entries of a list; a query has it as a text. */
export function maxEntries(max = 1_000, otherwise = 100) {
  const toNumber = (given: unknown): unknown =>
    typeof given === "string" && /^\d{1,4}$/.test(given) ? Number(given) : given;
  return z.preprocess(toNumber, whole(1, max).default(otherwise));
}

/** An object or array as the text that is stored; null: none. `description`: what it is for. */
export function container(description: string) {
  return z
    .unknown()
    .transform((given, context): string | null => {
      if (given === null) return null;
      const read =
        given === undefined
          ? { expected: "a JSON object or array, or null for none" }
          : payloadText(given);
      if ("text" in read) return read.text;
      context.addIssue({ code: "custom", message: read.expected });
      return z.NEVER;
    })
    .meta({
      anyOf: [{ type: "object" }, { type: "array" }, { type: "null" }],
      description: `At most ${String(limits.payloadBytesMax)} bytes as UTF-8. ${description}`,
    });
}
