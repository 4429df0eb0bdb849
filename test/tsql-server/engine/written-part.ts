import type { SqlType, SqlValue } from "../values";
import { SimulationError } from "./sql-error";

/*
 * SET column.WRITE (value, offset, length) [doc: UPDATE (Transact-SQL), "Updating large value data types"]: only for `max` types;
 * the column isn't null, and the offset, from 0, isn't beyond its end; what is taken out ends where the value does. Whatever a server
 * refuses of this stops the model, and so do the forms with a NULL offset, length or value. Offsets count bytes of varchar: the model takes texts of ASCII only.
 */

/** What of a `max` value was written: texts taken out and put in, and where. */
export interface WrittenPart {
  readonly offset: number;
  readonly was: string;
  readonly is: string;
}

export function isPartial(type: SqlType): boolean {
  return (type.name === "nvarchar" || type.name === "varchar") && type.length === "max";
}

export function writePart(
  old: SqlValue,
  { offset, length, value }: { offset: number; length: number; value: SqlValue },
): { readonly value: string; readonly part: WrittenPart } {
  if (
    typeof old !== "string" ||
    typeof value !== "string" ||
    Number.isNaN(offset) ||
    Number.isNaN(length)
  )
    throw new SimulationError(".WRITE with NULL isn't modelled");
  // Bytes and characters are the same only here.
  if (Buffer.byteLength(old + value) !== old.length + value.length)
    throw new SimulationError(".WRITE of texts beyond ASCII isn't modelled");
  if (offset < 0 || offset > old.length || length < 0)
    throw new SimulationError(".WRITE beyond the ends of a value isn't modelled");
  const end = length === value.length ? offset + length : old.length; // another length moves what stands behind
  const is = value + old.slice(offset + length, end);
  const part = { offset, was: old.slice(offset, end), is };
  return { value: old.slice(0, offset) + value + old.slice(offset + length), part };
}
