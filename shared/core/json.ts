/** JSON values as TypeScript knows them. Payloads and results are objects or arrays (design 10.7). */
export type JsonValue = string | number | boolean | null | JsonObject | JsonArray;
/** A JSON object. */
export interface JsonObject {
  [key: string]: JsonValue;
}
/** A JSON array. */
export type JsonArray = JsonValue[];
