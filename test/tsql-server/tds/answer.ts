import type { ColumnInfo, SqlType, SqlValue } from "../values";
import { ByteWriter, ProtocolError } from "./bytes";
import type { EngineMessage } from "./engine-port";
import type { PacketWriter } from "./packets";
import { serverCollation, writeTypeInfo } from "./types";
import { writeValue } from "./wire-values";

/**
 * The server's answer to one message: tokens in the order in which they are called for [doc: MS-TDS 2.2.7]. A wrong
 * order (a row before its columns, anything after the end) throws, as the driver would fail far from the cause.
 */

/** The kind of answer: it decides which token ends a statement and which the whole. */
export type AnswerKind = "batch" | "procedure";

interface AnswerOptions {
  kind: AnswerKind;
  writer: PacketWriter;
  /** Called after each token with the number of tokens so far. */
  onToken?: (count: number) => void;
}

/** An output parameter as it goes back. */
export interface ReturnedValue {
  ordinal: number;
  name: string;
  type: SqlType;
  value: SqlValue;
}

const tokens = {
  returnStatus: 0x79,
  columns: 0x81,
  error: 0xaa,
  info: 0xab,
  returnValue: 0xac,
  loginAck: 0xad,
  featureAck: 0xae,
  row: 0xd1,
  rowWithNulls: 0xd2,
  change: 0xe3,
  done: 0xfd,
  doneProcedure: 0xfe,
  doneInProcedure: 0xff,
} as const;
const changes = {
  database: 1,
  language: 2,
  packetSize: 4,
  collation: 7,
  began: 8,
  committed: 9,
  rolledBack: 10,
  reset: 18,
} as const;
const doneBits = { more: 1, error: 2, count: 16, attention: 32 } as const;
/** From this class on a message is an error. */
const errorClass = 11;
const serverName = "simulated";
/** The command that a count belongs to; the driver doesn't look. */
const selectCommand = 0xc1;
const utf8Feature = 0x0a;

interface Done {
  isError: boolean;
  count: number | undefined;
}

/** One answer, and the only way to make it. */
export class Answer {
  readonly #kind: AnswerKind;
  readonly #writer: PacketWriter;
  readonly #onToken: (count: number) => void;
  readonly #bytes = new ByteWriter();
  #columns: readonly ColumnInfo[] | null = null;
  #hasErrorInRows = false;
  /** The end of a batch's last statement is also the end of the answer: it waits until that is known. */
  #waiting: Done | null = null;
  #tokenCount = 0;
  #hasError = false;
  #hasEnded = false;

  constructor(options: AnswerOptions) {
    this.#kind = options.kind;
    this.#writer = options.writer;
    this.#onToken = options.onToken ?? (() => undefined);
  }

  /** Has an error been told? */
  get hasError(): boolean {
    return this.#hasError;
  }

  columns(columns: readonly ColumnInfo[]): void {
    this.#leaveBrokenRows();
    this.#begin("columns");
    if (this.#columns !== null) throw new ProtocolError("A row set begins inside another one");
    this.#columns = columns;
    this.#bytes.uint8(tokens.columns).uint16(columns.length);
    for (const column of columns) {
      // User type, then flags: 1 nullable, 8 may be written.
      this.#bytes.uint32(0).uint16(column.isNullable ? 9 : 8);
      writeTypeInfo(this.#bytes, column);
      this.#bytes.shortText(column.name);
    }
    this.#put();
  }

  row(values: readonly SqlValue[]): void {
    this.#begin("row");
    const columns = this.#columns;
    if (columns === null) throw new ProtocolError("A row outside a row set");
    if (values.length !== columns.length) {
      throw new ProtocolError(`A row of ${values.length} values for ${columns.length} columns`);
    }
    if (values.includes(null)) this.#putRowWithNulls(columns, values);
    else this.#putRow(columns, values);
  }

  /** The row set ends; without a count under NOCOUNT ON. */
  endRows(count: number | undefined): void {
    if (this.#columns === null) throw new ProtocolError("The end of a row set that hasn't begun");
    this.#columns = null;
    this.#endStatement({ isError: this.#hasErrorInRows, count });
    this.#hasErrorInRows = false;
  }

  /** A statement without a row set counted rows. */
  count(rows: number): void {
    this.#leaveBrokenRows();
    if (this.#columns !== null) throw new ProtocolError("A count inside a row set");
    this.#endStatement({ isError: false, count: rows });
  }

  message(message: EngineMessage): void {
    this.#begin("message");
    const isError = message.class >= errorClass;
    const body = new ByteWriter()
      .int32(message.number)
      .uint8(message.state, message.class)
      .longText(message.text)
      .shortText(serverName)
      .shortText(message.procedure)
      .uint32(message.line)
      .take();
    this.#bytes
      .uint8(isError ? tokens.error : tokens.info)
      .uint16(body.length)
      .bytes(body);
    this.#put();
    if (!isError) return;
    this.#hasError = true;
    this.#hasErrorInRows = this.#columns !== null;
  }

  began(transactionId: bigint): void {
    this.#change(changes.began, (body) => body.uint8(8).uint64(transactionId).uint8(0));
  }

  committed(transactionId: bigint): void {
    this.#change(changes.committed, (body) => body.uint8(0, 8).uint64(transactionId));
  }

  /** Without it the client goes on as if its transaction were open, and each statement commits by itself. */
  rolledBack(transactionId: bigint): void {
    this.#change(changes.rolledBack, (body) => body.uint8(0, 8).uint64(transactionId));
  }

  wasReset(): void {
    this.#change(changes.reset, (body) => body.uint8(0, 0));
  }

  returnStatus(status: number): void {
    this.#leaveBrokenRows();
    this.#begin("return status");
    this.#bytes.uint8(tokens.returnStatus).int32(status);
    this.#put();
  }

  returnValue(returned: ReturnedValue): void {
    this.#begin("return value");
    const slot = { type: returned.type, isNullable: true };
    this.#bytes.uint8(tokens.returnValue).uint16(returned.ordinal).shortText(returned.name);
    // Status 1: an output parameter, not a function's result; then user type and flags.
    this.#bytes.uint8(1).uint32(0).uint16(1);
    writeTypeInfo(this.#bytes, slot);
    writeValue(this.#bytes, slot, returned.value);
    this.#put();
  }

  /** The login was accepted; what the client must know before its first request. */
  loggedIn(login: { database: string; packetSize: number; asksForUtf8: boolean }): void {
    const { database } = login;
    this.#change(changes.database, (body) => body.shortText(database).shortText("master"));
    this.message({
      number: 5701,
      state: 2,
      class: 0,
      text: `Changed database context to '${database}'.`,
      procedure: "",
      line: 0,
    });
    // Without a collation the driver refuses each varchar parameter.
    this.#change(changes.collation, (body) =>
      body.uint8(serverCollation.length).bytes(serverCollation).uint8(0),
    );
    this.#change(changes.language, (body) => body.shortText("us_english").shortText(""));
    this.#acknowledgeLogin();
    if (login.asksForUtf8) this.#acknowledgeUtf8();
    const size = String(login.packetSize);
    this.#change(changes.packetSize, (body) => body.shortText(size).shortText("4096"));
  }

  /** Ends the answer. */
  end(how: { isFailed: boolean }): void {
    this.#leaveBrokenRows();
    if (this.#columns !== null && !how.isFailed) {
      throw new ProtocolError("The answer ends inside a row set");
    }
    this.#columns = null;
    const last = this.#waiting;
    this.#waiting = null;
    this.#begin("end");
    const token = this.#kind === "procedure" ? tokens.doneProcedure : tokens.done;
    this.#putDone(token, {
      status: how.isFailed ? doneBits.error : 0,
      count: last?.count,
    });
    this.#close();
  }

  /** Ends an answer that can't go on, after any part of it; false when it had ended. */
  abandon(message: EngineMessage): boolean {
    if (this.#hasEnded) return false;
    this.#bytes.take();
    this.message(message);
    this.end({ isFailed: true });
    return true;
  }

  /** The whole answer to an attention: this token and nothing else, or the driver throws. */
  attention(): void {
    this.#putDone(tokens.done, { status: doneBits.attention, count: undefined });
    this.#close();
  }

  #close(): void {
    this.#hasEnded = true;
    this.#writer.end();
  }

  #endStatement(done: Done): void {
    this.#begin("end of a statement");
    if (this.#kind === "batch") this.#waiting = done;
    else this.#putStatementDone(tokens.doneInProcedure, done);
  }

  /** Every token passes here: what waited comes first. */
  #begin(what: string): void {
    if (this.#hasEnded) throw new ProtocolError(`A ${what} after the end of the answer`);
    const waiting = this.#waiting;
    this.#waiting = null;
    if (waiting !== null) this.#putStatementDone(tokens.done, waiting);
  }

  /** A row set that an error has cut short ends with the tokens after the error. */
  #leaveBrokenRows(): void {
    if (this.#columns !== null && this.#hasErrorInRows) this.endRows(undefined);
  }

  #putStatementDone(token: number, done: Done): void {
    const status = doneBits.more | (done.isError ? doneBits.error : 0);
    this.#putDone(token, { status, count: done.count });
  }

  #putDone(token: number, done: { status: number; count: number | undefined }): void {
    const hasCount = done.count !== undefined;
    this.#bytes
      .uint8(token)
      .uint16(done.status | (hasCount ? doneBits.count : 0))
      .uint16(hasCount ? selectCommand : 0)
      .uint64(BigInt(done.count ?? 0));
    this.#put();
  }

  #putRow(columns: readonly ColumnInfo[], values: readonly SqlValue[]): void {
    this.#bytes.uint8(tokens.row);
    for (const [index, column] of columns.entries()) this.#putCell(column, values[index] ?? null);
    this.#put();
  }

  /** A bit for each column says which are null; these have no value. */
  #putRowWithNulls(columns: readonly ColumnInfo[], values: readonly SqlValue[]): void {
    const bits = Buffer.alloc(Math.ceil(columns.length / 8));
    for (const [index, value] of values.entries()) {
      if (value === null) bits[index >> 3] = (bits[index >> 3] ?? 0) | (1 << (index & 7));
    }
    this.#bytes.uint8(tokens.rowWithNulls).bytes(bits);
    for (const [index, column] of columns.entries()) {
      const value = values[index] ?? null;
      if (value !== null || !column.isNullable) this.#putCell(column, value);
    }
    this.#put();
  }

  #putCell(column: ColumnInfo, value: SqlValue): void {
    try {
      writeValue(this.#bytes, column, value);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      throw new ProtocolError(`Column ${column.name}: ${error.message}`, { cause: error });
    }
  }

  #change(type: number, write: (body: ByteWriter) => unknown): void {
    this.#begin("change");
    const writer = new ByteWriter().uint8(type);
    write(writer);
    const body = writer.take();
    this.#bytes.uint8(tokens.change).uint16(body.length).bytes(body);
    this.#put();
  }

  /** Interface 1, TDS 7.4 (big-endian), name and version of the server. */
  #acknowledgeLogin(): void {
    const body = new ByteWriter()
      .uint8(1, 0x74, 0, 0, 4)
      .shortText("Microsoft SQL Server")
      .uint8(16, 0, 0x10, 0)
      .take();
    this.#bytes.uint8(tokens.loginAck).uint16(body.length).bytes(body);
    this.#put();
  }

  #acknowledgeUtf8(): void {
    this.#bytes.uint8(tokens.featureAck, utf8Feature).uint32(1).uint8(1, 0xff);
    this.#put();
  }

  #put(): void {
    this.#writer.push(this.#bytes.take());
    this.#tokenCount += 1;
    this.#onToken(this.#tokenCount);
  }
}
