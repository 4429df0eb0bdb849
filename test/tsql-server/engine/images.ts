import type { Image } from "../storage/row";

/** What a writer asks of rows' values. */

/** What SET names from the change, the rest from the row. */
export function mergeColumns(
  row: Image,
  { image, columns }: { readonly image: Image; readonly columns: readonly number[] },
): Image {
  return row.map((value, place) => (columns.includes(place) ? (image[place] ?? null) : value));
}

export function isSameValue(
  left: Image[number] | undefined,
  right: Image[number] | undefined,
): boolean {
  if (left instanceof Uint8Array && right instanceof Uint8Array)
    return Buffer.compare(left, right) === 0;
  return left === right;
}
