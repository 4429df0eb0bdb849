import type { BuiltinName, DateCall } from "../../syntax/ast";
import { convertTo } from "../bind/conversions";
import { bindExpression } from "../bind/expressions";
import type { Scope } from "../bind/scope";
import type { Scalar } from "../expression";
import { apply, applyOne } from "../expression";
import {
  addToInstant,
  countBoundaries,
  localTicks,
  packOffset,
  partOf,
  roundTicks,
  roundToDatetime,
  unpackOffset,
} from "../instants";
import { fitsInteger } from "../numbers";
import { SimulationError, SqlError } from "../sql-error";
import type { ValueType } from "../types";
import { bigintType, intType, isInstant } from "../types";
import type { BindFunction } from "./builtins";
import { part } from "./builtins";

/** Functions whose first argument is a part of a date. A text counts as datetime2(7) here, as datetime on the server. */
function asInstant(scalar: Scalar): Scalar {
  return isInstant(scalar.type) ? scalar : convertTo(scalar, { name: "datetime2", scale: 7 });
}

function ticksOf(value: unknown, type: ValueType): bigint {
  const ticks = value as bigint;
  return type.name === "datetimeoffset" ? localTicks(ticks) : ticks;
}

export function bindDateCall(node: DateCall, scope: Scope): Scalar {
  const parts = node.arguments.map((argument) => bindExpression(argument, scope));
  const [first, second] = parts;
  if (first === undefined) throw new Error(`${node.name} has no argument`);
  if (node.name === "DATEPART") {
    const instant = asInstant(first);
    return applyOne({ type: intType }, instant, (value) =>
      partOf(ticksOf(value, instant.type), node.part),
    );
  }
  if (second === undefined) throw new Error(`${node.name} has one argument only`);
  return node.name === "DATEADD" ? dateAdd(node, first, second) : dateDiff(node, first, second);
}

function dateAdd(node: DateCall, count: Scalar, when: Scalar): Scalar {
  const instant = asInstant(when);
  const { type } = instant;
  // The count is an int, of any source: more than 24.8 days in milliseconds overflow [doc: DATEADD].
  return apply({ type }, [convertTo(count, intType), instant], ([number, value]) => {
    if (number === null || value === null || value === undefined) return null;
    const moved = addToInstant(ticksOf(value, type), node.part, Number(number));
    if (moved === undefined) {
      throw new SqlError(517, `Adding a value to a '${type.name}' column caused an overflow.`);
    }
    if (type.name === "datetime") return roundToDatetime(moved);
    if (type.name === "datetimeoffset") return addToOffset(value as bigint, moved);
    return roundTicks(moved, "scale" in type ? type.scale : 7);
  });
}

function addToOffset(packed: bigint, movedLocal: bigint): bigint {
  return packed + (movedLocal - localTicks(packed)) * 10_000n;
}

function dateDiff(node: DateCall, from: Scalar, to: Scalar): Scalar {
  const [start, end] = [asInstant(from), asInstant(to)];
  const isBig = node.name === "DATEDIFF_BIG";
  return apply({ type: isBig ? bigintType : intType }, [start, end], ([one, other]) => {
    if (one === null || other === null) return null;
    const count = countBoundaries(utcOf(one, start.type), utcOf(other, end.type), node.part);
    if (isBig) return count;
    if (!fitsInteger(count, "int")) {
      throw new SqlError(
        535,
        "The datediff function resulted in an overflow. The number of dateparts separating two date/time instances is too large. Try to use datediff with a less precise datepart.",
      );
    }
    return Number(count);
  });
}

function utcOf(value: unknown, type: ValueType): bigint {
  const ticks = value as bigint;
  return type.name === "datetimeoffset" ? unpackOffset(ticks).utcTicks : ticks;
}

/** The same instant as told in another zone, given in minutes [doc: SWITCHOFFSET]. Zones given as text aren't modelled. */
function switchOffset(parts: readonly Scalar[]): Scalar {
  const [instant, zone] = [part(parts, 0), part(parts, 1)];
  if (instant.type.name !== "datetimeoffset" || zone.type.name !== "int")
    throw new SimulationError("SWITCHOFFSET is modelled for datetimeoffset and minutes only");
  return apply({ type: instant.type }, [instant, zone], ([value, minutes]) => {
    if (value === null || value === undefined || minutes === null) return null;
    return packOffset(unpackOffset(value as bigint).utcTicks, Number(minutes));
  });
}

export const instantFunctions: Partial<Record<BuiltinName, BindFunction>> = {
  SWITCHOFFSET: switchOffset,
};
