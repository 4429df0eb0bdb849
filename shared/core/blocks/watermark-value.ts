import type { InvalidArgumentError } from "../errors";
import { isObject } from "../foreign-value";
import type { JsonValue } from "../json";
import { jsonTextOf } from "../json-text";
import { refusedField } from "../refused-field";
import { cleanText } from "../text";
import { wrongValue } from "../wrong-value";

/** What a watermark of each kind of blocks is called: its only member. */
export type WatermarkMember = "last" | "until" | "mark";

/**
 * The member of a watermark that earlier blocks left; undefined: there is none yet. Throws InvalidArgumentError when it was
 * left by blocks of another kind, or set to something else.
 */
export function memberOf(stands: JsonValue, member: WatermarkMember): JsonValue | undefined {
  if (stands === null) return undefined;
  const value = isObject(stands) ? stands[member] : undefined;
  if (value !== undefined) return value;
  throw unfit(stands, `{ "${member}": .. }, as blocks of this kind leave it`);
}

/** The items behind the mark of a watermark. Throws InvalidArgumentError for an answer that can't be gone through. */
export async function itemsBehind<Item>(
  after: (mark: JsonValue) => Iterable<Item> | Promise<Iterable<Item>>,
  stands: JsonValue,
): Promise<Iterable<Item>> {
  const items: unknown = await after(memberOf(stands, "mark") ?? null);
  const isIterable = typeof items === "object" && items !== null && Symbol.iterator in items;
  if (!isIterable) throw wrongValue("after", "it to answer a list, or another iterable", items);
  return items as Iterable<Item>;
}

/**
 * The mark of an item. Throws InvalidArgumentError for one that a watermark can't keep, and for null: the next call would begin
 * anew.
 */
export function markAt<Item>(markOf: (item: Item) => JsonValue, item: Item): JsonValue {
  const mark = markOf(item);
  const written = jsonTextOf("markOf", mark, "value");
  if (mark !== null && "text" in written) return mark;
  throw wrongValue("markOf", "a mark that JSON can say, not null", mark);
}

/** Names the error of a watermark. */
export function unfit(stands: JsonValue, expected: string): InvalidArgumentError {
  return refusedField(
    "watermark",
    `its value to be ${expected} (${cleanText(JSON.stringify(stands), 100)}); set it right, or name another watermark`,
  );
}
