/** Reads what operators ask of the audit, as requests.ts does: checked values, or all problems. */
import { auditActions } from "../core/audit-actions";
import { limits } from "../core/limits";
import type { ListAuditInput } from "../ports/task-store";
import { readInstant } from "./enqueue-request";
import { ObjectReader } from "./object-reader";
import type { ReadResult } from "./object-reader";
import { keyRule, readMax } from "./requests";

const maxBounds = { max: 100, default: 20 };
const known = ["object", "action", "actor", "since", "before", "max"];
const actorRule = { min: 1, max: limits.nameLengthMax } as const;

/** The query of a list of entries: `object`, `action`, `actor`, `since`, `before`, `max` (1..100, default 20). Values are texts. */
export function readListAuditQuery(input: unknown): ReadResult<ListAuditInput> {
  const reader = ObjectReader.open(input, { known, root: "query" });
  const said = Object.entries({
    object: reader.text("object", keyRule),
    action: reader.choice("action", auditActions),
    changedBy: reader.text("actor", actorRule),
    since: readInstant(reader, "since"),
    before: readInstant(reader, "before"),
  }).filter(([, value]) => value !== null);
  return reader.result({ ...Object.fromEntries(said), max: readMax(reader, maxBounds) });
}
