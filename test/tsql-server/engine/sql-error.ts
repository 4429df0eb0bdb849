/** Errors of T-SQL (what a server would say), and faults that are the test's: a form or a situation outside the model. */

export interface SqlErrorOptions {
  state?: number;
  /** Severity; 16 unless said. */
  class?: number;
}

/** An error as a server raises it. Line and procedure are filled in where it is raised. */
export class SqlError extends Error {
  readonly number: number;
  readonly state: number;
  readonly class: number;
  line = 0;
  procedure = "";
  /** Raised by THROW: ends the batch outside TRY. */
  isThrown = false;
  /** Raised by RAISERROR: XACT_ABORT doesn't apply. */
  isMild = false;
  /** What it does to the transaction has been done; it is on its way to a CATCH, or to the end of the batch. */
  isSettled = false;

  constructor(number: number, message: string, options: SqlErrorOptions = {}) {
    super(message);
    this.name = "SqlError";
    this.number = number;
    this.state = options.state ?? 1;
    this.class = options.class ?? 16;
  }

  /**
   * Does it end the batch and the transaction wherever it is met outside TRY, and doom the transaction inside? Deadlock
   * victims, and conversions that fail [doc: SET XACT_ABORT; blog E. Sommarskog, "Error and Transaction Handling", part 2].
   */
  get abortsBatch(): boolean {
    return batchAborting.has(this.number);
  }
}

const batchAborting = new Set([241, 242, 244, 245, 248, 1205, 3928, 3960, 8114, 8169]);

/** The model doesn't know this, or the text under test breaks a rule of the model: the test fails, no CATCH sees it. */
export class SimulationError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "SimulationError";
  }
}

/** Attention: the client gave up. No CATCH sees it. */
export class CancelledError extends Error {
  constructor() {
    super("The request was cancelled by the client.");
    this.name = "CancelledError";
  }
}

/** Texts of messages that several places raise. */
export const sqlErrors = {
  deadlock: (session: number): SqlError =>
    new SqlError(
      1205,
      `Transaction (Process ID ${session}) was deadlocked on lock resources with another process and has been chosen as the deadlock victim. Rerun the transaction.`,
      { state: 45, class: 13 },
    ),
  lockTimeout: (): SqlError =>
    new SqlError(1222, "Lock request time out period exceeded.", { state: 51 }),
  unknownObject: (name: string): SqlError => new SqlError(208, `Invalid object name '${name}'.`),
  unknownColumn: (name: string): SqlError => new SqlError(207, `Invalid column name '${name}'.`),
  unknownFunction: (schema: string, name: string): SqlError =>
    new SqlError(
      4121,
      `Cannot find either column "${schema}" or the user-defined function or aggregate "${schema}.${name}", or the name is ambiguous.`,
    ),
  unboundName: (name: string): SqlError =>
    new SqlError(4104, `The multi-part identifier "${name}" could not be bound.`, { state: 1 }),
  unknownVariable: (name: string): SqlError =>
    new SqlError(137, `Must declare the scalar variable "${name}".`, { class: 15, state: 2 }),
  unknownTableVariable: (name: string): SqlError =>
    new SqlError(1087, `Must declare the table variable "${name}".`, { class: 15, state: 2 }),
  unknownProcedure: (name: string): SqlError =>
    new SqlError(2812, `Could not find stored procedure '${name}'.`, { state: 62 }),
  nullColumn: (column: string, table: string, action: "INSERT" | "UPDATE"): SqlError =>
    new SqlError(
      515,
      `Cannot insert the value NULL into column '${column}', table '${table}'; column does not allow nulls. ${action} fails.`,
      { state: 2 },
    ),
  doomed: (): SqlError =>
    new SqlError(
      3930,
      "The current transaction cannot be committed and cannot support operations that write to the log file. Roll back the transaction.",
    ),
  overflow: (typeName: string): SqlError =>
    new SqlError(
      8115,
      `Arithmetic overflow error converting expression to data type ${typeName}.`,
      {
        state: 2,
      },
    ),
  severalRows: (): SqlError =>
    new SqlError(
      512,
      "Subquery returned more than 1 value. This is not permitted when the subquery follows =, !=, <, <= , >, >= or when the subquery is used as an expression.",
    ),
};
