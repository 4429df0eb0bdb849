import { cleanOperationId } from "./checks";
import type { StoreTransaction } from "./store-transaction";

/*
 * What an operation is: an object that says how one call of the store becomes a call of a procedure, and how the row that
 * comes back becomes an answer. The files of this folder have one object per operation, by topic. Both adapters bind from
 * them, and a static test compares them with the .sql files of both dialects.
 */

/** How a parameter is declared on either side. Types equal those of the columns, so that no key is converted. */
export const parameterTypes = {
  int: { postgres: "int", mssql: "int" },
  smallint: { postgres: "smallint", mssql: "smallint" },
  bigint: { postgres: "bigint", mssql: "bigint" },
  boolean: { postgres: "boolean", mssql: "bit" },
  uuid: { postgres: "uuid", mssql: "uniqueidentifier" },
  /** The operation id of an execution's start: checked when it was started. */
  start: { postgres: "uuid", mssql: "uniqueidentifier" },
  /** Any text, and keys whose length the procedure itself must check before anything is cut. */
  text: { postgres: "text", mssql: "nvarchar(max)" },
  text64: { postgres: "text", mssql: "nvarchar(64)" },
  /** A Date; travels as its ISO-8601 text. */
  instant: { postgres: "text", mssql: "nvarchar(max)" },
  /** An object or a list; travels as its JSON text. */
  json: { postgres: "text", mssql: "nvarchar(max)" },
  /** 64-bit ids: an array there, a JSON array here. */
  ids: { postgres: "bigint[]", mssql: "nvarchar(max)" },
  ints: { postgres: "int[]", mssql: "nvarchar(max)" },
} as const;

/** One of the types above. */
export type ParameterType = keyof typeof parameterTypes;

/** Name and type of one parameter. `taskExecutionId` is `p_task_execution_id` and `@TaskExecutionId`. */
export type Parameter = readonly [name: string, type: ParameterType];

/** What a parameter carries: lists of ids and numbers stay arrays until an adapter binds them. */
export type ParameterValue =
  | string
  | number
  | boolean
  | null
  | readonly string[]
  | readonly number[];

/** The values of one call by the names of its parameters. One that is missing is null; others are ignored. */
export type ParameterValues = Readonly<Record<string, ParameterValue>>;

/** One answer row; keys in camelCase, 64-bit numbers as strings. */
export type AnswerRow = Readonly<Record<string, string | number | boolean | null>>;

/** A procedure: `startExecution` is `start_execution` on PostgreSQL and `StartExecution` on SQL Server. */
export interface Procedure {
  readonly name: string;
  /** In the order of its declaration. */
  readonly parameters: readonly Parameter[];
}

/** Roles of the database: operators may call every operation, workers those that aren't for operators alone. */
export type Right = "worker" | "operator";

/** Names of operations that change nothing. */
export const reading = /^(?:list|read|explain|check|sweep)/;

/** One operation of the store: a method of the port, and a procedure of the same name in each dialect. */
export interface Operation<Input, Answer> extends Procedure {
  /** The least role that may call it: `npm run generate` writes the grants of both roles.sql by it. */
  readonly right: Right;
  /** Refuses what SQL can't judge by itself; gives the input with its texts as they are stored. */
  check(input: Input): Input;
  /** The parameters' values. `isWithin`: the call joins a transaction of the user's. */
  bind(input: Input, isWithin: boolean): ParameterValues;
  /** The answer, from a row that is the same in both dialects. Throws StoreContractError for another row. */
  decode(row: AnswerRow, input: Input): Answer;
  /** The answer when a lock wasn't granted in time and nothing happened; undefined: such a call is repeated. */
  readonly whenLocked: Answer | undefined;
}

/** The input of a method of the port. */
export type InputOf<Method> = Method extends (
  input: infer Input,
  within?: StoreTransaction,
) => unknown
  ? Input
  : never;

/** The answer of a method of the port. */
export type AnswerOf<Method> = Method extends (...inputs: never[]) => Promise<infer Answer>
  ? Answer
  : never;

/** What the fields of an input and `bind` give for each type. */
interface ValueTypes {
  int: number;
  smallint: number;
  bigint: string | number;
  boolean: boolean;
  uuid: string;
  start: string;
  text: string;
  text64: string;
  instant: Date;
  json: object;
  ids: readonly string[];
  ints: readonly number[];
}

type Declared = Readonly<Record<string, ParameterType>>;

/** The parameters that are fields of the input, of the same name and a fitting type. */
type OwnNames<Parameters extends Declared, Input> = {
  [Name in keyof Parameters]: Input extends unknown
    ? Name extends keyof Input
      ? [Input[Name]] extends [ValueTypes[Parameters[Name]] | null | undefined]
        ? Name
        : never
      : never
    : never;
}[keyof Parameters];

/** A value for every parameter that isn't a field of the input. */
type Bind<Parameters extends Declared, Input> = (
  input: Input,
  isWithin: boolean,
) => {
  readonly [Name in Exclude<keyof Parameters, OwnNames<Parameters, Input>>]:
    | ValueTypes[Parameters[Name]]
    | null;
} & { readonly [Name in keyof Parameters]?: ValueTypes[Parameters[Name]] | null };

/** What the object of an operation says. */
type Parts<Parameters extends Declared, Input, Answer> = {
  /** The least role that may call it. */
  readonly right: Right;
  /** Names and types in the order of the procedure. */
  readonly parameters: Parameters;
  /** Left out: SQL judges everything. */
  readonly check?: (input: Input) => Input;
  readonly decode: (row: AnswerRow, input: Input) => Answer;
  readonly whenLocked?: Answer;
} & ([keyof Parameters] extends [OwnNames<Parameters, Input>]
  ? {
      /** Left out: each parameter is the input's field of its name. */
      readonly bind?: Bind<Parameters, Input>;
    }
  : { readonly bind: Bind<Parameters, Input> });

/**
 * Makes operations of `Methods`, an interface of the port. The compiler checks each object against the method of its name:
 * input, answer, and a value for every parameter.
 */
export function operationsOf<Methods>(): <
  Name extends keyof Methods & string,
  const Parameters extends Declared,
>(
  name: Name,
  parts: Parts<Parameters, InputOf<Methods[Name]>, AnswerOf<Methods[Name]>>,
) => Operation<InputOf<Methods[Name]>, AnswerOf<Methods[Name]>> {
  return (name, { right, parameters, check, bind, decode, whenLocked }) => {
    const declared = Object.entries(parameters);
    return {
      name,
      right,
      parameters: declared,
      check: withOperationIds(declared, check ?? ((input) => input)),
      bind: (input, isWithin) =>
        valuesOf(declared, { fields: input as object, bound: bind?.(input, isWithin) ?? {} }),
      decode,
      whenLocked,
    };
  };
}

/** Ids that the caller has made are UUIDs; each is passed on in the form that databases write. */
function withOperationIds<Input>(
  parameters: readonly Parameter[],
  check: (input: Input) => Input,
): (input: Input) => Input {
  const names = parameters.filter(([, type]) => type === "uuid").map(([name]) => name);
  if (names.length === 0) return check;
  return (given) => {
    const input = check(given);
    const fields = input as Readonly<Record<string, unknown>>;
    const ids = new Map(names.map((name) => [name, cleanOperationId(name, fields[name])]));
    return { ...input, ...(Object.fromEntries(ids) as object) };
  };
}

/** The parameters' values: what was bound, or the fields of their names; one that is left out is null. No copy is made, as each call of a worker comes here. */
function valuesOf(
  parameters: readonly Parameter[],
  { fields, bound }: { fields: object; bound: object },
): ParameterValues {
  const own = fields as Readonly<Record<string, unknown>>;
  const given = bound as Readonly<Record<string, unknown>>;
  const values: Record<string, ParameterValue> = {};
  for (const [name, type] of parameters) {
    const value = name in given ? given[name] : own[name];
    values[name] = valueOf(type, value ?? null);
  }
  return values;
}

function valueOf(type: ParameterType, value: unknown): ParameterValue {
  if (value instanceof Date) return value.toISOString();
  return type === "json" && value !== null ? JSON.stringify(value) : (value as ParameterValue);
}

/** `taskExecutionId` -> `task_execution_id`. */
export function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** `taskExecutionId` -> `TaskExecutionId`. */
export function toPascalCase(name: string): string {
  return name.slice(0, 1).toUpperCase() + name.slice(1);
}

const camelCaseNames = new Map<string, string>();

/** A column name of either dialect as camelCase: `task_ids` and `TaskIds` -> `taskIds`. Each answer has some twenty, always the same. */
export function toCamelCase(name: string): string {
  const known = camelCaseNames.get(name);
  if (known !== undefined) return known;
  const converted =
    name.slice(0, 1).toLowerCase() +
    name.slice(1).replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  camelCaseNames.set(name, converted);
  return converted;
}
