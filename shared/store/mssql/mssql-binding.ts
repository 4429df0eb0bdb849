import type * as Mssql from "mssql";
import { InvalidArgumentError, StoreContractError } from "../../core/errors";
import type { SqlValue } from "../../ports/task-store";
import { parameterTypes, toCamelCase, toPascalCase } from "../operations/operation";
import type {
  AnswerRow,
  ParameterType,
  ParameterValue,
  ParameterValues,
  Procedure,
} from "../operations/operation";
import type { Driver } from "./mssql-pool";

type SqlType = (() => Mssql.ISqlType) | Mssql.ISqlType;

/** One call of a procedure. */
export interface ProcedureCall {
  readonly procedure: Procedure;
  readonly values: ParameterValues;
}

/** Runs the procedure of an operation; its one row as an answer. */
export async function execute(
  driver: Driver,
  request: Mssql.Request,
  call: ProcedureCall,
): Promise<AnswerRow> {
  bindProcedure(driver, request, call);
  const result = await request.execute<Record<string, unknown>>(
    `Taskgate.${toPascalCase(call.procedure.name)}`,
  );
  return toAnswer(driver, call.procedure.name, result);
}

/** By declared type: the driver's own guess would send other lengths with each value, and one plan for each. */
const driverTypes: Readonly<
  Record<(typeof parameterTypes)[ParameterType]["mssql"], (driver: Driver) => SqlType>
> = {
  int: (driver) => driver.Int,
  smallint: (driver) => driver.SmallInt,
  bigint: (driver) => driver.BigInt,
  bit: (driver) => driver.Bit,
  uniqueidentifier: (driver) => driver.UniqueIdentifier,
  "nvarchar(max)": (driver) => driver.NVarChar(driver.MAX),
  "nvarchar(64)": (driver) => driver.NVarChar(64),
};

/** Longer texts than these would be cut by the procedure, or break the stream of the protocol. */
const lengthsMax: Partial<Record<ParameterType, number>> = {
  text64: 64,
};

/** Gives `request` every parameter of the operation, null where there is no value. */
export function bindProcedure(driver: Driver, request: Mssql.Request, call: ProcedureCall): void {
  for (const [name, type] of call.procedure.parameters) {
    const value = bind(type, name, call.values[name] ?? null);
    const declared = driverTypes[parameterTypes[type].mssql](driver);
    request.input(toPascalCase(name), declared, value);
  }
}

/** Gives `request` every parameter of the operation as text of the one type that is given: the procedure converts it. */
export function bindAsText(
  request: Mssql.Request,
  call: ProcedureCall,
  nvarchar: () => Mssql.ISqlType,
): void {
  for (const [name, type] of call.procedure.parameters) {
    const value = bind(type, name, call.values[name] ?? null);
    const text = typeof value === "boolean" ? Number(value) : value;
    request.input(toPascalCase(name), nvarchar, text === null ? null : String(text));
  }
}

/** Lists are JSON arrays there; numbers beyond 2^53 stay text here. */
function bind(
  type: ParameterType,
  name: string,
  value: ParameterValue,
): string | number | boolean | null {
  if (typeof value === "object" && value !== null) {
    if (type !== "ids" && type !== "ints") {
      throw new StoreContractError(`A list was bound as ${type}`);
    }
    return `[${value.join(",")}]`;
  }
  if (value !== null && type === "bigint") return String(value);
  const lengthMax = lengthsMax[type];
  if (typeof value === "string" && lengthMax !== undefined && value.length > lengthMax) {
    throw new InvalidArgumentError(
      `${name}: expected at most ${String(lengthMax)} characters (${value.slice(0, 100)})`,
    );
  }
  return value;
}

/** How a value of a user's statement travels. */
export function bindValue(
  driver: Driver,
  value: SqlValue,
): { type: SqlType; value: string | number | boolean | Date | null } {
  if (value === null) return { type: driver.NVarChar(driver.MAX), value };
  if (typeof value === "string") return { type: driver.NVarChar(driver.MAX), value };
  if (typeof value === "boolean") return { type: driver.Bit, value };
  if (typeof value === "bigint") return { type: driver.BigInt, value: String(value) };
  if (value instanceof Date) return { type: driver.DateTime2(3), value };
  if (!Number.isFinite(value)) {
    throw new InvalidArgumentError(
      `Expected numbers of a statement to be finite, got ${String(value)}`,
    );
  }
  if (!Number.isSafeInteger(value)) return { type: driver.Float, value };
  if (Math.abs(value) < 2 ** 31) return { type: driver.Int, value };
  return { type: driver.BigInt, value: String(value) };
}

/**
 * The one row of the one set; keys in camelCase. `driver`: whose types the columns have; null: the operation answers no
 * unique identifiers. Throws StoreContractError for any other answer.
 */
export function toAnswer(
  driver: Pick<Driver, "UniqueIdentifier"> | null,
  name: string,
  result: Pick<Mssql.IProcedureResult<Record<string, unknown>>, "recordsets">,
): AnswerRow {
  const sets: Mssql.IRecordSet<Record<string, unknown>>[] = result.recordsets;
  const [set] = sets;
  const row = set?.[0];
  if (set === undefined || row === undefined || sets.length !== 1 || set.length !== 1) {
    throw new StoreContractError(
      `Expected one row from ${name}, got ${String(sets.length)} sets with ${String(sets.flat().length)} rows`,
    );
  }
  const answer: Record<string, string | number | boolean | null> = {};
  for (const [column, value] of Object.entries(row)) {
    if (typeof value === "object" && value !== null) {
      throw new StoreContractError(
        `Expected text, a number, a bit or null in ${column} of ${name}, got ${Object.prototype.toString.call(value)}`,
      );
    }
    const isId = driver !== null && set.columns[column]?.type === driver.UniqueIdentifier;
    // The driver writes these ids in upper case; everything else has them in lower case.
    const plain = isId && typeof value === "string" ? value.toLowerCase() : value;
    answer[toCamelCase(column)] = plain as string | number | boolean | null;
  }
  return answer;
}
