import type { Image, Row } from "../storage/row";
import type { TableData } from "../storage/table";
import type { SqlValue } from "../values";
import type { Connection } from "./connection";
import type { ModuleCoverage } from "./metrics";

/** What one run of a batch, procedure or function has of its own. Places are given out when its text is bound. */
export class Frame {
  readonly connection: Connection;
  /** Name of the procedure or function with its schema; empty for a batch. */
  readonly moduleName: string;
  readonly variables: SqlValue[] = [];
  readonly tables: TableData[] = [];
  /** The current row of each source of the statement that runs. */
  readonly rows: Image[] = [];
  /** The stored row behind it, for sources that are written to. */
  readonly hits: Row[] = [];
  /** The row that the statement has just decided to write. */
  #taken: Row | undefined;
  /** Answers of queries that are run once per statement: valid while `turn` is the statement's. */
  readonly cells: { turn: number; value: unknown }[] = [];
  /** Numbers the statements that this frame has begun. */
  turn = 0;
  returnValue: SqlValue | undefined;
  #coverage: ModuleCoverage | undefined;

  constructor(connection: Connection, moduleName: string) {
    this.connection = connection;
    this.moduleName = moduleName;
  }

  get coverage(): ModuleCoverage {
    this.#coverage ??= this.connection.world.coverage.of(this.moduleName);
    return this.#coverage;
  }

  take(row: Row | undefined): void {
    this.#taken = row;
  }

  isTaken(row: Row): boolean {
    return this.#taken === row;
  }

  /** The row of a source; there is one whenever an expression reads it. */
  value(slot: number, column: number): SqlValue {
    return this.rows[slot]?.[column] ?? null;
  }

  table(place: number): TableData {
    const table = this.tables[place];
    if (table === undefined) throw new Error(`Table variable ${place} isn't there`);
    return table;
  }
}
