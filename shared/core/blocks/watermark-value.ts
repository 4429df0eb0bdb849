import { InvalidArgumentError } from "../errors";
import type { JsonObject, JsonValue } from "../json";
import { cleanText } from "../text";

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

/** Names the error of a watermark. */
export function unfit(stands: JsonValue, expected: string): InvalidArgumentError {
  return new InvalidArgumentError(
    `watermark: expected its value to be ${expected} (${cleanText(JSON.stringify(stands), 100)}); set it right, or name another watermark`,
    { details: { field: "watermark" } },
  );
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
