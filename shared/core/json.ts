/** JSON values as TypeScript knows them. Payloads and results are objects or arrays. */
export type JsonValue = string | number | boolean | null | JsonObject | JsonArray;
/** A JSON object. */
export interface JsonObject {
  [key: string]: JsonValue;
}
/** A JSON array. */
export type JsonArray = JsonValue[];
/** What a task carries and what it leaves: a JSON object, an array, or nothing. */
export type JsonPayload = JsonObject | JsonArray | null;
