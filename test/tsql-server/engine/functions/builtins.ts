import type { BuiltinCall, BuiltinName } from "../../syntax/ast";
import { bindExpression } from "../bind/expressions";
import type { Scope } from "../bind/scope";
import type { Scalar } from "../expression";
import { meteredText } from "../metered-text";
import { instantFunctions } from "./dates";
import { jsonFunctions } from "./json-functions";
import { numberFunctions } from "./number-functions";
import { systemFunctions } from "./system-functions";
import { textFunctions } from "./text-functions";
import { valueFunctions } from "./value-functions";

/** A function of the server: types its call, and says how to compute it. */
export type BindFunction = (parts: readonly Scalar[], scope: Scope) => Scalar;

const functions: Readonly<Partial<Record<BuiltinName, BindFunction>>> = {
  ...instantFunctions,
  ...jsonFunctions,
  ...numberFunctions,
  ...systemFunctions,
  ...textFunctions,
  ...valueFunctions,
};

/** They read their text from end to end; the others take a part, write one, or know its length. */
const readingAll: ReadonlySet<BuiltinName> = new Set<BuiltinName>([
  "CHARINDEX",
  "ISJSON",
  "JSON_QUERY",
  "JSON_VALUE",
  "LEN",
  "LOWER",
  "LTRIM",
  "REPLACE",
  "RTRIM",
  "STRING_ESCAPE",
  "TRIM",
  "UPPER",
]);

export function bindBuiltin(node: BuiltinCall, scope: Scope): Scalar {
  const bind = functions[node.name];
  if (bind === undefined) throw new Error(`The function ${node.name} isn't modelled`);
  const parts = node.arguments.map((argument) => bindExpression(argument, scope));
  return bind(readingAll.has(node.name) ? parts.map(meteredText) : parts, scope);
}

/** The argument at a place; the parser has counted them. */
export function part(parts: readonly Scalar[], place: number): Scalar {
  const scalar = parts[place];
  if (scalar === undefined) throw new Error(`Argument ${place + 1} is missing`);
  return scalar;
}
