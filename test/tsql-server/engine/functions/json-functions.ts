import type { SqlValue } from "../../values";
import type { BuiltinName } from "../../syntax/ast";
import type { BindFunction } from "./builtins";
import { apply, applyOne } from "../expression";
import { SqlError } from "../sql-error";
import { intType, textMax } from "../types";
import {
  escapeJson,
  follow,
  fragmentText,
  isJson,
  parseJson,
  parsePath,
  scalarText,
} from "../json";
import { asText } from "./text-functions";

/** JSON_VALUE answers at most so much; in lax mode a longer text is NULL. */
const valueLengthMax = 4000;

function read(
  pick: (text: string, path: string) => string | undefined,
): (values: readonly SqlValue[]) => SqlValue {
  return ([text, path]) => {
    if (text === null || text === undefined || path === null) return null;
    return pick(String(text), path === undefined ? "$" : String(path)) ?? null;
  };
}

const readValue = read((text, path) => {
  const value = scalarText(follow(parseJson(text), parsePath(path)));
  return value !== undefined && value.length > valueLengthMax ? undefined : value;
});

const readFragment = read((text, path) => fragmentText(follow(parseJson(text), parsePath(path))));

export const jsonFunctions: Partial<Record<BuiltinName, BindFunction>> = {
  ISJSON: (parts) =>
    applyOne({ type: intType }, asText(parts, 0), (value) => (isJson(String(value)) ? 1 : 0)),
  JSON_VALUE: (parts) =>
    apply({ type: { name: "nvarchar", length: valueLengthMax } }, parts, readValue),
  JSON_QUERY: (parts) => apply({ type: textMax }, parts, readFragment),
  STRING_ESCAPE: (parts) => {
    const text = asText(parts, 0);
    return apply(
      { type: textMax, collation: text.collation },
      [text, asText(parts, 1)],
      ([value, kind]) => {
        if (value === null || kind === null) return null;
        if (String(kind).toLowerCase() !== "json") {
          throw new SqlError(
            8116,
            "An invalid value was specified for argument 2 of string_escape.",
          );
        }
        return escapeJson(String(value));
      },
    );
  },
};
