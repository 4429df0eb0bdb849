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

/** Names of operations that change nothing. */
export const reading = /^(?:list|read|explain|check|sweep)/;

/** One operation of the store: a method of the port, and a procedure of the same name in each dialect. */
export interface Operation<Input, Answer> extends Procedure {
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

interface ValueTypes {
  int: number;
  smallint: number;
  bigint: string | number;
  boolean: boolean;
  uuid: string;
  start: string;
  text: string;
  text64: string;
  ids: readonly string[];
  ints: readonly number[];
}

type Declared = Readonly<Record<string, ParameterType>>;

/** A value for every parameter. */
type Bound<Parameters extends Declared> = {
  readonly [Name in keyof Parameters]: ValueTypes[Parameters[Name]] | null;
};

/** May the input be bound as it is: does it name every parameter? */
type IsBound<Parameters extends Declared, Input> = [keyof Parameters] extends [keyof Input]
  ? [Pick<Input, keyof Parameters & keyof Input>] extends [Partial<Bound<Parameters>>]
    ? true
    : false
  : false;

type Bind<Input, Parameters extends Declared> = (
  input: Input,
  isWithin: boolean,
) => Bound<Parameters>;

/** What the object of an operation says. */
type Parts<Parameters extends Declared, Input, Answer> = {
  /** Names and types in the order of the procedure. */
  readonly parameters: Parameters;
  /** Left out: SQL judges everything. */
  readonly check?: (input: Input) => Input;
  readonly decode: (row: AnswerRow, input: Input) => Answer;
  readonly whenLocked?: Answer;
} & (IsBound<Parameters, Input> extends true
  ? {
      /** Left out: each parameter is the input's field of its name. */ readonly bind?: Bind<
        Input,
        Parameters
      >;
    }
  : { readonly bind: Bind<Input, Parameters> });

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
  return (name, { parameters, check, bind, decode, whenLocked }) => {
    const declared = Object.entries(parameters);
    return {
      name,
      parameters: declared,
      check: withOperationIds(declared, check ?? ((input) => input)),
      bind: bind ?? ((input) => fieldsOf(input, declared)),
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

/** The input's fields that are parameters; one that is left out is null. */
function fieldsOf(input: unknown, parameters: readonly Parameter[]): ParameterValues {
  const fields = input as Readonly<Record<string, ParameterValue | undefined>>;
  return Object.fromEntries(parameters.map(([name]) => [name, fields[name] ?? null]));
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
