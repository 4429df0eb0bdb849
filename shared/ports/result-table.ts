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
}
