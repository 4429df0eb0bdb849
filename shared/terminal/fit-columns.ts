/** Which columns of a table fit beside each other, and how wide each is. Pure. */

/** What decides about one column; widths in cells. */
export interface FittedColumn {
  /** Of its longest cell or its title. */
  readonly width: number;
  /** Its texts take several lines rather than being cut, such as errors: at most one column of a table, the last. */
  readonly wraps?: boolean;
  /** It is left out first where the terminal is too narrow. */
  readonly isSpare?: boolean;
  /** Numbers stand right, and are never cut. */
  readonly isNumber?: boolean;
}

/** Where the columns stand. */
export interface Fit {
  /** Of all columns, in order. */
  readonly widths: readonly number[];
  /** Indexes of the columns that stand beside each other. */
  readonly beside: readonly number[];
  /** The wrapping column, where it stands on lines of its own below each row; null: it stands beside the others. */
  readonly below: number | null;
  /** Indexes of the columns that are left out. */
  readonly leftOut: readonly number[];
}

/** Blanks between two columns. */
export const columnGap = 2;
/** A wrapping column is no narrower beside others. */
const wrapWidthMin = 24;
/** A cut text keeps so many cells. */
const cutWidthMin = 8;

/**
 * Everything beside each other where that fits `width` (null: always). Else, in this order: the wrapping column wraps,
 * spare columns are left out, the wrapping column goes below the row, the widest texts are cut.
 */
export function fitColumns(columns: readonly FittedColumn[], width: number | null): Fit {
  const widths = columns.map((column) => column.width);
  let beside = columns.map((_, index) => index);
  const missing = (): number =>
    width === null
      ? 0
      : beside.reduce((sum, index) => sum + (widths[index] ?? 0) + columnGap, -columnGap) - width;
  const fit = (below: number | null = null): Fit => {
    const leftOut = columns.flatMap((_, index) =>
      beside.includes(index) || index === below ? [] : [index],
    );
    return { widths, beside, below, leftOut };
  };
  const wrapping = columns.findIndex(({ wraps }) => wraps === true);
  const natural = columns[wrapping]?.width ?? 0;
  const squeeze = (): void => {
    if (wrapping === -1) return;
    widths[wrapping] = natural;
    widths[wrapping] = Math.max(Math.min(natural, wrapWidthMin), natural - Math.max(0, missing()));
  };
  squeeze();
  const spare = beside.filter((index) => columns[index]?.isSpare === true);
  while (missing() > 0 && spare.length > 0) {
    const last = spare.pop();
    beside = beside.filter((index) => index !== last);
    squeeze();
  }
  if (missing() <= 0) return fit();
  beside = beside.filter((index) => index !== wrapping);
  for (const index of byWidth(columns, beside)) {
    if (missing() <= 0) break;
    const cut = Math.max(cutWidthMin, (widths[index] ?? 0) - missing());
    widths[index] = Math.min(widths[index] ?? 0, cut);
  }
  return fit(wrapping === -1 ? null : wrapping);
}

/** Indexes of columns that may be cut, the widest first. */
function byWidth(columns: readonly FittedColumn[], indexes: readonly number[]): number[] {
  return indexes
    .filter((index) => columns[index]?.isNumber !== true)
    .sort((left, right) => (columns[right]?.width ?? 0) - (columns[left]?.width ?? 0));
}
