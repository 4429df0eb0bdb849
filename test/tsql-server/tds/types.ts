import type { ColumnInfo, SqlType } from "../values";
import type { ByteReader, ByteWriter } from "./bytes";
import { ProtocolError } from "./bytes";

/** TYPE_INFO of the types that are simulated [doc: MS-TDS 2.2.5.4 to 2.2.5.6]. An unknown type is refused, never guessed. */

/** Type and nullability of what a value stands in: they decide how it is written. */
export type Slot = Pick<ColumnInfo, "type" | "isNullable">;

/** Ids of types whose values carry their length, null among them. */
const nullableIds = {
  uniqueidentifier: 0x24,
  integer: 0x26,
  bit: 0x68,
  decimal: 0x6a,
  numeric: 0x6c,
  float: 0x6d,
  datetime: 0x6f,
  datetime2: 0x2a,
  varbinary: 0xa5,
  varchar: 0xa7,
  char: 0xaf,
  nvarchar: 0xe7,
  nchar: 0xef,
} as const;

/** Ids of types whose values have one size and can't be null: what a server takes for columns that are NOT NULL. */
const fixedIds = {
  tinyint: 0x30,
  bit: 0x32,
  smallint: 0x34,
  int: 0x38,
  datetime: 0x3d,
  float: 0x3e,
  bigint: 0x7f,
} as const;

/** Type id of a table-valued parameter; it has a structure of its own (requests.ts). */
export const tableTypeId = 0xf3;

/** Names for the message that refuses them. */
const refusedIds: Readonly<Record<number, string>> = {
  0x1f: "null",
  0x22: "image",
  0x23: "text",
  0x28: "date",
  0x29: "time",
  0x2b: "datetimeoffset",
  0x62: "sql_variant",
  0x63: "ntext",
  0x6e: "money",
  0xad: "binary",
  0xf0: "a CLR type",
  0xf1: "xml",
};

/** Bytes of an integer, by type. */
export const integerSizes = { tinyint: 1, smallint: 2, int: 4, bigint: 8 } as const;

/** Length of a type in bytes that says "max". */
const maxLength = 0xffff;

/** us_english, ignores case, kana and width (SQL_Latin1_General_CP1_CI_AS): locale, flags and the id of the sort order. */
export const serverCollation = Buffer.from([0x09, 0x04, 0xd0, 0x00, 0x34]);

/** Is a value of this slot written without its length? */
export function isFixed(slot: Slot): boolean {
  return !slot.isNullable && slot.type.name in fixedIds;
}

/** Reads the description of a type, whose id was read before. */
export function readTypeInfo(reader: ByteReader, id: number): SqlType {
  switch (id) {
    case nullableIds.integer:
      return { name: integerOf(reader.uint8()) };
    case nullableIds.bit:
      expectSize("bit", reader.uint8(), 1);
      return { name: "bit" };
    case nullableIds.float:
      expectSize("float", reader.uint8(), 8);
      return { name: "float" };
    case nullableIds.uniqueidentifier:
      expectSize("uniqueidentifier", reader.uint8(), 16);
      return { name: "uniqueidentifier" };
    case nullableIds.datetime:
      expectSize("datetime", reader.uint8(), 8);
      return { name: "datetime" };
    case nullableIds.datetime2:
      return { name: "datetime2", scale: reader.uint8() };
    case nullableIds.decimal:
    case nullableIds.numeric: {
      reader.uint8();
      const precision = reader.uint8();
      return { name: "decimal", precision, scale: reader.uint8() };
    }
    case nullableIds.nvarchar:
    case nullableIds.nchar: {
      const length = readLength(reader, 2);
      reader.bytes(serverCollation.length);
      return { name: id === nullableIds.nchar ? "nchar" : "nvarchar", length };
    }
    case nullableIds.varchar:
    case nullableIds.char: {
      const length = readLength(reader, 1);
      reader.bytes(serverCollation.length);
      return { name: id === nullableIds.char ? "char" : "varchar", length };
    }
    case nullableIds.varbinary:
      return { name: "varbinary", length: readLength(reader, 1) };
    default:
      throw new ProtocolError(
        `Type 0x${id.toString(16)} (${refusedIds[id] ?? "unknown"}) isn't simulated`,
      );
  }
}

/** Writes the description of a slot's type. */
export function writeTypeInfo(writer: ByteWriter, slot: Slot): void {
  const { type } = slot;
  if (isFixed(slot)) {
    writer.uint8(fixedIds[type.name as keyof typeof fixedIds]);
    return;
  }
  switch (type.name) {
    case "tinyint":
    case "smallint":
    case "int":
    case "bigint":
      writer.uint8(nullableIds.integer, integerSizes[type.name]);
      return;
    case "bit":
      writer.uint8(nullableIds.bit, 1);
      return;
    case "float":
    case "datetime":
      writer.uint8(nullableIds[type.name], 8);
      return;
    case "uniqueidentifier":
      writer.uint8(nullableIds.uniqueidentifier, 16);
      return;
    case "datetime2":
      writer.uint8(nullableIds.datetime2, type.scale);
      return;
    case "decimal":
      writer.uint8(nullableIds.decimal, decimalSize(type.precision), type.precision, type.scale);
      return;
    case "nvarchar":
    case "nchar":
      writer.uint8(nullableIds[type.name]).uint16(lengthOf(type.length, 2)).bytes(serverCollation);
      return;
    case "varchar":
    case "char":
      writer.uint8(nullableIds[type.name]).uint16(lengthOf(type.length, 1)).bytes(serverCollation);
      return;
    case "varbinary":
      writer.uint8(nullableIds.varbinary).uint16(lengthOf(type.length, 1));
      return;
  }
}

/** Bytes of a decimal with its sign [doc: MS-TDS 2.2.5.5.1.6]. */
export function decimalSize(precision: number): number {
  if (precision <= 9) return 5;
  if (precision <= 19) return 9;
  return precision <= 28 ? 13 : 17;
}

/** Bytes of the time of day in a datetime2 [doc: MS-TDS 2.2.5.5.1.8]. */
export function timeSize(scale: number): number {
  if (scale <= 2) return 3;
  return scale <= 4 ? 4 : 5;
}

/** The type as it is written in T-SQL. */
export function describeType(type: SqlType): string {
  if ("length" in type) return `${type.name}(${type.length})`;
  if ("precision" in type) return `${type.name}(${type.precision},${type.scale})`;
  return "scale" in type ? `${type.name}(${type.scale})` : type.name;
}

function integerOf(size: number): keyof typeof integerSizes {
  switch (size) {
    case 1:
      return "tinyint";
    case 2:
      return "smallint";
    case 4:
      return "int";
    case 8:
      return "bigint";
    default:
      throw new ProtocolError(`An integer of ${size} bytes`);
  }
}

function readLength(reader: ByteReader, unitSize: number): number | "max" {
  const size = reader.uint16();
  return size === maxLength ? "max" : size / unitSize;
}

function lengthOf(length: number | "max", unitSize: number): number {
  return length === "max" ? maxLength : length * unitSize;
}

function expectSize(name: string, size: number, expected: number): void {
  if (size !== expected) throw new ProtocolError(`A ${name} of ${size} bytes isn't simulated`);
}
