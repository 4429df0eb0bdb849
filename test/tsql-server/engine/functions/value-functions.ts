import { foldText } from "../../storage/collation";
import type { BuiltinName } from "../../syntax/ast";
import type { SqlValue } from "../../values";
import { firstPresent } from "../bind/case";
import { convertTo } from "../bind/conversions";
import { comparison } from "../bind/predicates";
import type { Scalar } from "../expression";
import { apply, scalarOf } from "../expression";
import { intType, isText } from "../types";
import type { BindFunction } from "./builtins";
import { part } from "./builtins";

/** Equal values have equal sums, in any case where case doesn't count. The server's own sums are others. */
function checksum(parts: readonly Scalar[]): Scalar {
  return apply({ type: intType, isNullable: false }, parts, (values) => {
    let sum = 0x811c9dc5 | 0;
    values.forEach((value, place) => {
      const scalar = parts[place];
      const text =
        scalar !== undefined && isText(scalar.type) && value !== null
          ? `t${foldText(String(value), scalar.collation.name)}`
          : `v${printValue(value)}`;
      for (let at = 0; at < text.length; at += 1)
        sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193);
      sum = Math.imul(sum ^ 0x1f, 0x01000193);
    });
    return sum;
  });
}

function printValue(value: SqlValue): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString("hex") : String(value);
}

export const valueFunctions: Partial<Record<BuiltinName, BindFunction>> = {
  CHECKSUM: checksum,
  COALESCE: (parts) => firstPresent(parts),
  /** Unlike COALESCE it has the first one's type: a longer second one is cut [doc: ISNULL]. */
  ISNULL: (parts) => {
    const first = part(parts, 0);
    const second = part(parts, 1);
    const typed = first.isUntyped ? convertTo(first, second.type) : first;
    const chosen = firstPresent([typed, convertTo(second, typed.type)]);
    return { ...chosen, type: typed.type, isNullable: second.isNullable };
  },
  NULLIF: (parts) => {
    const [first, second] = [part(parts, 0), part(parts, 1)];
    const { parts: compared, compare } = comparison(first, second, "=");
    const shape = { type: first.type, collation: first.collation, isNullable: true };
    return apply(shape, [first, ...compared], ([value, one, other]) => {
      if (value === null || value === undefined) return null;
      if (one === null || one === undefined || other === null || other === undefined) return value;
      return compare(one, other) === 0 ? null : value;
    });
  },
  NEWID: () =>
    scalarOf({ type: { name: "uniqueidentifier" }, isNullable: false }, (frame) =>
      frame.connection.world.newId(frame.connection),
    ),
};
