/**
 * Reads what operators ask for watermarks, as requests.ts does: checked values, or all problems.
 */
import { isId } from "../core/ids";
import type { OperationId } from "../core/ids";
import { ObjectReader } from "./object-reader";
import type { ReadResult } from "./object-reader";
import { payloadText } from "./payload";
import { keyRule, readMax, readOperationId, reasonRule } from "./requests";

/** An operator's watermark. */
export interface WatermarkRequest {
  readonly watermark: string;
  /** JSON text; null: none, the next maker begins anew. */
  readonly value: string | null;
  /** Only if this is its version. */
  readonly expectedVersion?: string;
  /** A repeat with it sets nothing and answers the same. */
  readonly operationId?: OperationId;
  readonly reason?: string;
}

/** Which watermarks to list. */
export interface ListWatermarksRequest {
  readonly name?: string;
  readonly watermark?: string;
  readonly max: number;
}

/** `{ watermark, value, version?, operationId?, reason? }`; `value` is a JSON object or array, or null. */
export function readWatermarkRequest(input: unknown): ReadResult<WatermarkRequest> {
  const known = ["watermark", "value", "version", "operationId", "reason"];
  const reader = ObjectReader.open(input, { known });
  const watermark = reader.requiredText("watermark", keyRule);
  const expectedVersion = readVersion(reader);
  const operationId = readOperationId(reader);
  const reason = reader.text("reason", reasonRule);
  return reader.result({
    watermark,
    value: readValue(reader),
    ...(expectedVersion === null ? {} : { expectedVersion }),
    ...(operationId === null ? {} : { operationId }),
    ...(reason === null ? {} : { reason }),
  });
}

/** The query of a list: `definition`, `watermark`, `max` (default 100). Values are texts. */
export function readListWatermarksQuery(input: unknown): ReadResult<ListWatermarksRequest> {
  const known = ["definition", "watermark", "max"];
  const reader = ObjectReader.open(input, { known, root: "query" });
  const name = reader.text("definition", keyRule);
  const watermark = reader.text("watermark", keyRule);
  const max = readMax(reader);
  return reader.result({
    ...(name === null ? {} : { name }),
    ...(watermark === null ? {} : { watermark }),
    max,
  });
}

function readValue(reader: ObjectReader): string | null {
  reader.require("value", "a JSON object or array, or null for none");
  const given = reader.raw("value");
  if (given === null) return null;
  const read = payloadText(given);
  if ("text" in read) return read.text;
  reader.refuse("value", read.expected);
  return null;
}

/** Decimal digits; a number only as far as it is exact. */
function readVersion(reader: ObjectReader): string | null {
  if (!reader.has("version")) return null;
  const given = reader.raw("version");
  const text = Number.isSafeInteger(given) ? String(given) : given;
  if (typeof text === "string" && isId(text)) return text;
  reader.refuse("version", "a version as the list shows it: 1..19 decimal digits, below 2^63");
  return null;
}
