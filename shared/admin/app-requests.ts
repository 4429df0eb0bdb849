/**
 * Reads what operators ask of apps, as requests.ts does: checked values, or all problems.
 */
import { ObjectReader } from "./object-reader";
import type { ReadResult } from "./object-reader";
import { keyRule, reasonRule } from "./requests";

/** The app that a definition is handed over to; null: none. */
export interface OwnerRequest {
  readonly app: string | null;
  readonly reason?: string;
}

/** The body of a hand-over: `{ app: name | null, reason? }`. */
export function readOwnerRequest(input: unknown): ReadResult<OwnerRequest> {
  const reader = ObjectReader.open(input, { known: ["app", "reason"] });
  reader.require("app", "the name of an app, or null (no app)");
  const app = reader.raw("app") === null ? null : reader.text("app", keyRule);
  const reason = reader.text("reason", reasonRule);
  return reader.result({ app, ...(reason === null ? {} : { reason }) });
}
