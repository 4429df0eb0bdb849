/** A table for people. */
export interface ResultTable {
  readonly title: string;
  readonly columns: readonly ResultColumn[];
  readonly rows: readonly (readonly (string | number)[])[];
}

/** One column. */
export interface ResultColumn {
  readonly title: string;
  /** Numbers stand at the right. */
  readonly isNumber: boolean;
  /** A bar beside each number; of one column at most. Default: none. */
  readonly hasBars?: boolean;
}
