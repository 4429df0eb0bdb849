import type { SqlType, SqlValue } from "../values";
import { ByteReader, ProtocolError } from "./bytes";
import type { EngineArgument, EngineArgumentValue, EngineRequest } from "./engine-port";
import { packetTypes } from "./packets";
import type { Message } from "./packets";
import { readTypeInfo, tableTypeId } from "./types";
import { readValue } from "./wire-values";

/** Requests as clients send them [doc: MS-TDS 2.2.6.6 RPC Request, 2.2.6.7 SQLBatch, 2.2.6.9 Transaction Manager]. */

/** A request and what its headers say. */
export interface ClientRequest {
  /** Transaction that the client believes to be in; 0n: in none. */
  transactionId: bigint;
  request: EngineRequest;
}

/** Reads a request. Throws ProtocolError for what isn't simulated: bulk load, prepared statements, savepoints. */
export function readRequest(message: Message): ClientRequest {
  const reader = new ByteReader(message.body);
  switch (message.type) {
    case packetTypes.batch: {
      const transactionId = readHeaders(reader);
      return { transactionId, request: { kind: "batch", sql: reader.text(reader.left / 2) } };
    }
    case packetTypes.call: {
      const transactionId = readHeaders(reader);
      return { transactionId, request: readCall(reader) };
    }
    case packetTypes.transaction: {
      const transactionId = readHeaders(reader);
      return { transactionId, request: readTransaction(reader) };
    }
    default:
      throw new ProtocolError(`Messages of type ${message.type} aren't simulated`);
  }
}

const transactionHeader = 2;

/** Skips the headers, each of which has its length; the transaction is told by one of them. */
function readHeaders(reader: ByteReader): bigint {
  const headers = new ByteReader(reader.bytes(reader.uint32() - 4));
  let transactionId = 0n;
  while (headers.left > 0) {
    const header = new ByteReader(headers.bytes(headers.uint32() - 4));
    if (header.uint16() === transactionHeader) transactionId = header.uint64();
  }
  return transactionId;
}

const transactionActions: Readonly<Record<number, "begin" | "commit" | "rollback">> = {
  5: "begin",
  7: "commit",
  8: "rollback",
};

function readTransaction(reader: ByteReader): EngineRequest {
  const operation = reader.uint16();
  const action = transactionActions[operation];
  if (action === undefined) {
    throw new ProtocolError(`Transaction request ${operation} isn't simulated`);
  }
  const level = action === "begin" ? reader.uint8() : 0;
  const name = reader.bytes(reader.uint8()).toString("utf16le");
  // Commit and rollback may begin the next transaction in the same message.
  const followedByBegin = action === "begin" ? 0 : reader.uint8() & 1;
  if (name !== "" || followedByBegin !== 0) {
    throw new ProtocolError("Named transactions, and a begin within a commit, aren't simulated");
  }
  return { kind: "transaction", action, level };
}

/** Procedures that are called by number. */
const executeSql = 10;
const calledByNumber = 0xffff;

function readCall(reader: ByteReader): EngineRequest {
  const length = reader.uint16();
  if (length !== calledByNumber) {
    const name = reader.text(length);
    return { kind: "procedure", name, arguments: readArguments(reader) };
  }
  const number = reader.uint16();
  if (number !== executeSql) throw new ProtocolError(`Procedure number ${number} isn't simulated`);
  const [sql, declaration, ...rest] = readArguments(reader);
  return {
    kind: "statement",
    sql: textOf(sql, "statement"),
    declaration: declaration === undefined ? "" : textOf(declaration, "declaration"),
    arguments: rest,
  };
}

function textOf(argument: EngineArgument | undefined, what: string): string {
  const value = argument?.value.kind === "scalar" ? argument.value.value : undefined;
  if (typeof value !== "string") throw new ProtocolError(`sp_executesql got no text as ${what}`);
  return value;
}

/** Of one call only: after this sign another one would follow in the same message. */
const nextCall = 0xff;

function readArguments(reader: ByteReader): EngineArgument[] {
  const options = reader.uint16();
  if (options !== 0) throw new ProtocolError(`Call options ${options} aren't simulated`);
  const read: EngineArgument[] = [];
  while (reader.left > 0) {
    const nameLength = reader.uint8();
    if (nameLength === nextCall) throw new ProtocolError("Several calls at once aren't simulated");
    const name = reader.text(nameLength);
    const flags = reader.uint8();
    read.push({
      name,
      isOutput: (flags & 1) !== 0,
      usesDefault: (flags & 2) !== 0,
      value: readArgument(reader, name),
    });
  }
  return read;
}

function readArgument(reader: ByteReader, name: string): EngineArgumentValue {
  try {
    const id = reader.uint8();
    if (id === tableTypeId) return readTable(reader);
    const type = readTypeInfo(reader, id);
    return { kind: "scalar", type, value: readValue(reader, type) };
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    throw new ProtocolError(`Parameter ${name}: ${error.message}`, { cause: error });
  }
}

const noColumns = 0xffff;
const tokens = { end: 0, row: 1 } as const;

/** A table-valued parameter: names of its type, columns without names, rows [doc: MS-TDS 2.2.5.5.5]. */
function readTable(reader: ByteReader): EngineArgumentValue {
  const names = [reader.shortText(), reader.shortText(), reader.shortText()];
  const typeName = names.filter((name) => name !== "").join(".");
  const columns: SqlType[] = [];
  const count = reader.uint16();
  for (let index = 0; count !== noColumns && index < count; index += 1) {
    reader.uint32();
    reader.uint16();
    columns.push(readTypeInfo(reader, reader.uint8()));
    reader.shortText();
  }
  // Between the columns and the rows the protocol has room for their order; the driver never sends it.
  expectToken(reader, tokens.end);
  const rows: SqlValue[][] = [];
  for (let token = reader.uint8(); token !== tokens.end; token = reader.uint8()) {
    if (token !== tokens.row) throw new ProtocolError(`A table with token ${token} among its rows`);
    rows.push(columns.map((column) => readValue(reader, column)));
  }
  return { kind: "table", typeName, columns, rows };
}

function expectToken(reader: ByteReader, expected: number): void {
  const token = reader.uint8();
  if (token !== expected) throw new ProtocolError(`A table with token ${token} after its columns`);
}
