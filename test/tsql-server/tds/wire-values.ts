import type { SqlType, SqlValue } from "../values";
import type { ByteReader, ByteWriter } from "./bytes";
import { ProtocolError } from "./bytes";
import { decodeVarchar, encodeVarchar } from "./code-page";
import { datetimeFromTicks, datetimeToTicks, ticksPerDay, ticksPerUnit } from "./instants";
import { decimalSize, describeType, integerSizes, isFixed, timeSize } from "./types";
import type { Slot } from "./types";

/**
 * Values as they travel [doc: MS-TDS 2.2.5.5]. A value that doesn't fit its type is a fault of the engine behind the
 * endpoint: it is refused here, since a driver would show something else than the engine meant.
 */

type IntegerName = keyof typeof integerSizes;
type StringType = Extract<SqlType, { length: number | "max" }>;

const nullLength = 0xffff;
/** Values of max types come in pieces: total length or one of these, pieces, a piece of length 0. */
const nullTotal = 0xffff_ffff_ffff_ffffn;
const unknownTotal = 0xffff_ffff_ffff_fffen;
const pieceSize = 8_000;

/** Reads a parameter's value: the driver declares all of them as nullable. */
export function readValue(reader: ByteReader, type: SqlType): SqlValue {
  if ("length" in type) return readString(reader, type);
  const size = reader.uint8();
  if (size === 0) return null;
  const bytes = reader.bytes(size);
  switch (type.name) {
    case "bit":
    case "tinyint":
      return bytes.readUInt8();
    case "smallint":
      return bytes.readInt16LE();
    case "int":
      return bytes.readInt32LE();
    case "bigint":
      return bytes.readBigInt64LE();
    case "float":
      return bytes.readDoubleLE();
    case "uniqueidentifier":
      return readUniqueIdentifier(bytes);
    case "decimal":
      return readDecimal(bytes);
    case "datetime":
      return datetimeToTicks(bytes.readInt32LE(0), bytes.readUInt32LE(4));
    case "datetime2": {
      const units = BigInt(bytes.readUIntLE(0, size - 3));
      const days = BigInt(bytes.readUIntLE(size - 3, 3));
      return days * ticksPerDay + units * ticksPerUnit(type.scale);
    }
  }
}

/** Writes a value into its slot. Throws ProtocolError when it doesn't fit. */
export function writeValue(writer: ByteWriter, slot: Slot, value: SqlValue): void {
  const { type } = slot;
  if (value === null) {
    writeNull(writer, slot);
    return;
  }
  if ("length" in type) {
    writeString(writer, type, value);
    return;
  }
  const writeSize = (size: number): void => {
    if (!isFixed(slot)) writer.uint8(size);
  };
  switch (type.name) {
    case "bit":
      writeSize(1);
      writer.uint8(integerWithin(type, value, [0n, 1n]));
      return;
    case "tinyint":
    case "smallint":
    case "int":
    case "bigint":
      writeSize(integerSizes[type.name]);
      writeInteger(writer, type.name, value);
      return;
    case "float":
      if (typeof value !== "number") throw misfit(type, value);
      writeSize(8);
      writer.float64(value);
      return;
    case "uniqueidentifier":
      writer.uint8(16).bytes(uniqueIdentifierBytes(type, value));
      return;
    case "decimal":
      writeDecimal(writer, type, value);
      return;
    case "datetime": {
      if (typeof value !== "bigint") throw misfit(type, value);
      const { days, threeHundredths } = datetimeFromTicks(value);
      writeSize(8);
      writer.int32(days).uint32(threeHundredths);
      return;
    }
    case "datetime2":
      writeDatetime2(writer, type, value);
  }
}

function writeNull(writer: ByteWriter, slot: Slot): void {
  const { type } = slot;
  if (!slot.isNullable) {
    throw new ProtocolError(`A null in a slot that is ${describeType(type)} NOT NULL`);
  }
  if (!("length" in type)) writer.uint8(0);
  else if (type.length === "max") writer.uint64(nullTotal);
  else writer.uint16(nullLength);
}

function writeInteger(writer: ByteWriter, name: IntegerName, value: SqlValue): void {
  switch (name) {
    case "tinyint":
      writer.uint8(integerWithin({ name }, value, [0n, 255n]));
      return;
    case "smallint":
      writer.int16(integerWithin({ name }, value, [-(2n ** 15n), 2n ** 15n - 1n]));
      return;
    case "int":
      writer.int32(integerWithin({ name }, value, [-(2n ** 31n), 2n ** 31n - 1n]));
      return;
    case "bigint":
      if (typeof value !== "bigint" || BigInt.asIntN(64, value) !== value) {
        throw misfit({ name }, value);
      }
      writer.int64(value);
  }
}

function integerWithin(type: SqlType, value: SqlValue, [least, most]: [bigint, bigint]): number {
  if (typeof value !== "number" || !Number.isInteger(value)) throw misfit(type, value);
  if (BigInt(value) < least || BigInt(value) > most) throw misfit(type, value);
  return value;
}

/** A sign (1: not negative) and the digits without their point, least byte first. */
function readDecimal(bytes: Buffer): bigint {
  const digits = BigInt(`0x${Buffer.from(bytes.subarray(1)).reverse().toString("hex")}`);
  return bytes.readUInt8() === 1 ? digits : -digits;
}

function writeDecimal(
  writer: ByteWriter,
  type: Extract<SqlType, { precision: number }>,
  value: SqlValue,
): void {
  if (typeof value !== "bigint") throw misfit(type, value);
  const digits = value < 0n ? -value : value;
  if (digits >= 10n ** BigInt(type.precision)) throw misfit(type, value);
  const size = decimalSize(type.precision);
  const hex = digits.toString(16).padStart((size - 1) * 2, "0");
  writer.uint8(size, value < 0n ? 0 : 1).bytes(Buffer.from(hex, "hex").reverse());
}

function writeDatetime2(
  writer: ByteWriter,
  type: Extract<SqlType, { name: "datetime2" }>,
  value: SqlValue,
): void {
  const unit = ticksPerUnit(type.scale);
  if (typeof value !== "bigint" || value < 0n || value % unit !== 0n) throw misfit(type, value);
  const size = timeSize(type.scale);
  writer
    .uint8(size + 3)
    .uint(Number((value % ticksPerDay) / unit), size)
    .uint(Number(value / ticksPerDay), 3);
}

/** The first three groups have their least byte first. */
function swapGroups(bytes: Uint8Array): Buffer {
  const swapped = Buffer.from(bytes);
  swapped.subarray(0, 4).reverse();
  swapped.subarray(4, 6).reverse();
  swapped.subarray(6, 8).reverse();
  return swapped;
}

function readUniqueIdentifier(bytes: Buffer): string {
  const hex = swapGroups(bytes).toString("hex").toUpperCase();
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

function uniqueIdentifierBytes(type: SqlType, value: SqlValue): Buffer {
  if (typeof value !== "string" || !/^[0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12}$/.test(value)) {
    throw misfit(type, value);
  }
  return swapGroups(Buffer.from(value.replaceAll("-", ""), "hex"));
}

function readString(reader: ByteReader, type: StringType): SqlValue {
  const bytes = type.length === "max" ? readPieces(reader) : readSized(reader);
  if (bytes === null) return null;
  switch (type.name) {
    case "nvarchar":
    case "nchar":
      return bytes.toString("utf16le");
    case "varchar":
    case "char":
      return decodeVarchar(bytes);
    case "varbinary":
      return Uint8Array.from(bytes);
  }
}

function readSized(reader: ByteReader): Buffer | null {
  const size = reader.uint16();
  return size === nullLength ? null : reader.bytes(size);
}

function readPieces(reader: ByteReader): Buffer | null {
  if (reader.uint64() === nullTotal) return null;
  const pieces: Buffer[] = [];
  for (let size = reader.uint32(); size !== 0; size = reader.uint32()) {
    pieces.push(reader.bytes(size));
  }
  return Buffer.concat(pieces);
}

function writeString(writer: ByteWriter, type: StringType, value: SqlValue): void {
  const bytes = stringBytes(type, value);
  if (type.length !== "max") {
    writer.uint16(bytes.length).bytes(bytes);
    return;
  }
  writer.uint64(unknownTotal);
  for (let at = 0; at < bytes.length; at += pieceSize) {
    const piece = bytes.subarray(at, at + pieceSize);
    writer.uint32(piece.length).bytes(piece);
  }
  writer.uint32(0);
}

function stringBytes(type: StringType, value: SqlValue): Uint8Array {
  if (type.name === "varbinary") {
    if (!(value instanceof Uint8Array) || isTooLong(type, value.length)) throw misfit(type, value);
    return value;
  }
  if (typeof value !== "string" || isTooLong(type, value.length)) throw misfit(type, value);
  if (type.name === "nvarchar" || type.name === "nchar") return Buffer.from(value, "utf16le");
  return encodeVarchar(value);
}

/** char and nchar have their whole length: the engine pads them. */
function isTooLong(type: StringType, length: number): boolean {
  if (type.length === "max") return false;
  const isPadded = type.name === "char" || type.name === "nchar";
  return isPadded ? length !== type.length : length > type.length;
}

function misfit(type: SqlType, value: SqlValue): ProtocolError {
  const shown = typeof value === "string" ? JSON.stringify(value.slice(0, 60)) : String(value);
  return new ProtocolError(`${shown} (${typeof value}) isn't a value of ${describeType(type)}`);
}
