import type { ColumnInfo, SqlType, SqlValue } from "../values";
import type { SqlError } from "./sql-error";

/** Where a request's results go, in the order in which a server sends them. */
export interface Answer {
  columns(columns: ColumnInfo[]): void;
  row(values: SqlValue[]): void;
  endRows(count: number | undefined): void;
  count(rows: number): void;
  error(error: SqlError): void;
  information(message: { number: number; text: string; class: number; state: number }): void;
  began(transactionNumber: number): void;
  committed(transactionNumber: number): void;
  rolledBack(transactionNumber: number): void;
}

export interface RowSet {
  columns: ColumnInfo[];
  rows: SqlValue[][];
}

/** Keeps everything: what tests and the scheduler look at. */
export class CollectedAnswer implements Answer {
  readonly rowSets: RowSet[] = [];
  readonly counts: number[] = [];
  readonly errors: SqlError[] = [];
  readonly informations: string[] = [];
  returnStatus: number | undefined;
  outputs: { name: string; type: SqlType; value: SqlValue }[] = [];
  isCancelled = false;

  columns(columns: ColumnInfo[]): void {
    this.rowSets.push({ columns, rows: [] });
  }

  row(values: SqlValue[]): void {
    this.rowSets.at(-1)?.rows.push(values);
  }

  endRows(count: number | undefined): void {
    if (count !== undefined) this.counts.push(count);
  }

  count(rows: number): void {
    this.counts.push(rows);
  }

  error(error: SqlError): void {
    this.errors.push(error);
  }

  information(message: { text: string }): void {
    this.informations.push(message.text);
  }

  began(): void {
    // Tests ask @@TRANCOUNT.
  }

  committed(): void {
    // As above.
  }

  rolledBack(): void {
    // As above.
  }

  /** Rows of one set as objects by column name. */
  objects(place = 0): Record<string, SqlValue>[] {
    const set = this.rowSets[place];
    if (set === undefined) return [];
    return set.rows.map((row) =>
      Object.fromEntries(set.columns.map((column, at) => [column.name, row[at] ?? null])),
    );
  }
}
