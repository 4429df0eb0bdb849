import { createHash } from "node:crypto";
import type { IngestEvent } from "../worker/define/ingest-event";

const keyLengthMax = 200;

/**
 * The dedupe key of the task `index` of an event: two events share one only when source and id are the same. Where both
 * can be read back from `source/id`, the key is readable. Else a hash stands for them: `a` with `b/c` and `a/b` with `c`
 * would read the same, and what two long ones have in common may be all that fits.
 */
export function eventKey({ source, id }: IngestEvent, index: number): string {
  const readable = `event:${source}/${id}/${String(index)}`;
  const isUnique = !id.includes("/") && readable.length <= keyLengthMax;
  // Half a character is in no key: the database has no place for it.
  if (isUnique && readable.isWellFormed()) return readable;
  const hash = createHash("sha256")
    .update(JSON.stringify([source, id]))
    .digest("base64url");
  return `event:${hash}/${String(index)}`;
}
