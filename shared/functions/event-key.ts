import { createHash } from "node:crypto";
import type { IngestEvent } from "../ports/ingest-event";

const keyLengthMax = 200;

/** Which task of an event. */
export interface EventTask {
  readonly kind: string;
  /** From 0, among the event's tasks of its kind: a route that adds tasks of another kind changes no key. */
  readonly index: number;
}

/**
 * The dedupe key of one task of an event: two events share one only when source and id are the same. Where all of it
 * can be read back from `source/id/kind`, the key is readable. Else a hash stands for it: `a` with `b/c` and `a/b` with `c`
 * would read the same, and what two long ones have in common may be all that fits.
 */
export function eventKey({ source, id }: IngestEvent, { kind, index }: EventTask): string {
  const readable = `event:${source}/${id}/${kind}/${String(index)}`;
  const isUnique =
    ![id, kind].some((part) => part.includes("/")) && readable.length <= keyLengthMax;
  // Half a character is in no key: the database has no place for it.
  if (isUnique && readable.isWellFormed()) return readable;
  const hash = createHash("sha256")
    .update(JSON.stringify([source, id, kind]))
    .digest("base64url");
  return `event:${hash}/${String(index)}`;
}
