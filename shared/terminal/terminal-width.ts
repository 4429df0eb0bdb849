/** Columns of a terminal; null: it is none, or one that doesn't know its width and says 0. */
export function widthOf(stream: {
  readonly isTTY: boolean;
  readonly columns: number;
}): number | null {
  return stream.isTTY && stream.columns > 0 ? stream.columns : null;
}
