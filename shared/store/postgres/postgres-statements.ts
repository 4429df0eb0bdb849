import { StoreContractError } from "../../core/errors";
import { parameterTypes, toCamelCase, toSnakeCase } from "../operations/operation";
import type {
  AnswerRow,
  ParameterType,
  ParameterValue,
  ParameterValues,
  Procedure,
} from "../operations/operation";
import type { QueryResult, Statement } from "./postgres-transaction";

/** The statements that call the core's functions, and what they answer. */
export class PostgresStatements {
  readonly #schema: string;
  readonly #arePrepared: boolean;
  readonly #texts = new Map<string, string>();

  constructor(schema: string, arePrepared: boolean) {
    this.#schema = schema;
    this.#arePrepared = arePrepared;
  }

  /** One call. */
  of(procedure: Procedure, values: ParameterValues): Statement {
    const { name, parameters } = procedure;
    const text = this.#texts.get(name) ?? this.#textOf(procedure);
    this.#texts.set(name, text);
    const bound = parameters.map(([parameter, type]) => bind(type, values[parameter] ?? null));
    return this.named({ name: `taskgate_${name}`, text, values: bound });
  }

  /** Without its name where a pooler keeps no prepared statements. */
  named({ name, ...statement }: Statement): Statement {
    return this.#arePrepared && name !== undefined ? { name, ...statement } : statement;
  }

  #textOf({ name, parameters }: Procedure): string {
    const marks = parameters.map(
      ([, type], index) => `$${String(index + 1)}::${parameterTypes[type].postgres}`,
    );
    // Another name may be a word of SQL; the usual one stays as telemetry's readers know it.
    const place = this.#schema === "taskgate" ? this.#schema : `"${this.#schema}"`;
    return `select * from ${place}.${toSnakeCase(name)}(${marks.join(", ")})`;
  }
}

/** The one row of a call's answer. */
export function answerOf({ name }: Procedure, { rows }: QueryResult): AnswerRow {
  const [row] = rows;
  if (row === undefined || rows.length !== 1) {
    throw new StoreContractError(`Expected one row from ${name}, got ${String(rows.length)}`);
  }
  const answer: Record<string, string | number | boolean | null> = {};
  for (const [column, value] of Object.entries(row)) {
    answer[toCamelCase(column)] = value as string | number | boolean | null;
  }
  return answer;
}

/** Lists travel as one text: an array of the driver's costs several times the processor time per entry (measured). */
function bind(type: ParameterType, value: ParameterValue): unknown {
  if (value === null || !Array.isArray(value)) return value;
  if (type !== "ids" && type !== "ints")
    throw new StoreContractError(`A list was bound as ${type}`);
  return `{${value.join(",")}}`;
}
