import type { JsonPayload } from "../core/json";

/** What the text of a payload or result holds. */
export function parseContainer(text: string | null): JsonPayload {
  return text === null ? null : (JSON.parse(text) as JsonPayload);
}
