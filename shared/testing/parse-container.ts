import type { JsonArray, JsonObject } from "../core/json";

/** What the text of a payload or result holds. */
export function parseContainer(text: string | null): JsonObject | JsonArray | null {
  return text === null ? null : (JSON.parse(text) as JsonObject | JsonArray);
}
