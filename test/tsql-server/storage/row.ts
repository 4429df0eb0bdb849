import type { SqlValue } from "../values";

/** One column's value per place. Never changed: a write makes a new one. */
export type Image = readonly SqlValue[];

const imageTexts = new WeakMap<Image, string>();

/** The values as text, made once: searches that compare states ask again and again. */
export function imageText(image: Image): string {
  let text = imageTexts.get(image);
  if (text === undefined) {
    text = image.map(String).join("|");
    imageTexts.set(image, text);
  }
  return text;
}

/** The writer: a transaction of one connection. Its number names the lock that stands for it (L19). */
export interface Writer {
  readonly session: number;
  readonly number: number;
}

/** A committed state of a row: `image` undefined where the row didn't exist. */
export interface Version {
  readonly sequence: number;
  readonly image: Image | undefined;
}

/** A row as it is now, and as it was. */
export interface Row {
  readonly id: number;
  /** undefined: deleted, or not inserted yet. */
  image: Image | undefined;
  /** Number of the commit that made `image`; without meaning while there is a writer. */
  sequence: number;
  /** Whose uncommitted write `image` is. */
  writer: Writer | undefined;
  /** Committed states before `image`, oldest first; kept while a snapshot may read them. */
  older: Version[];
}

/** L8: the row as of a snapshot; a transaction's own writes are always seen. */
export function readVersion(
  row: Row,
  snapshot: number,
  reader: Writer | undefined,
): Image | undefined {
  if (row.writer === undefined) {
    if (row.sequence <= snapshot) return row.image;
  } else if (row.writer === reader) {
    return row.image;
  }
  for (let at = row.older.length - 1; at >= 0; at -= 1) {
    const version = row.older[at];
    if (version !== undefined && version.sequence <= snapshot) return version.image;
  }
  return undefined;
}
