import type { EngineArgument, EngineRequest } from "../tds/engine-port";
import type { SqlType, SqlValue } from "../values";
import { scalarTypeOf } from "./declarations";
import { splitName } from "./functions/system-functions";
import type { World } from "./world";

/** A call of a procedure by its parameters' own types: `callOf(world, "App.Work", { TaskExecutionId: 1, .. })`. */
export function callOf(
  world: World,
  name: string,
  values: Readonly<Record<string, SqlValue>>,
): EngineRequest {
  const object = world.catalog.find(splitName(name));
  if (object?.kind !== "procedure") throw new Error(`There is no procedure ${name}`);
  const given: EngineArgument[] = Object.entries(values).map(([key, value]) => {
    const parameter = object.definition.parameters.find(
      (one) => one.name.toLowerCase() === `@${key}`.toLowerCase(),
    );
    if (parameter === undefined) throw new Error(`${name} has no parameter ${key}`);
    const type = scalarTypeOf(parameter.type);
    return {
      name: parameter.name,
      isOutput: false,
      usesDefault: false,
      value: { kind: "scalar", type, value: heldAs(type, value) },
    };
  });
  return { kind: "procedure", name, arguments: given };
}

/** Whole numbers may be written as such. */
function heldAs(type: SqlType, value: SqlValue): SqlValue {
  if (typeof value === "number" && type.name === "bigint") return BigInt(value);
  return typeof value === "bigint" && type.name !== "bigint" && type.name !== "datetime2"
    ? Number(value)
    : value;
}
