import { isObject } from "../../core/foreign-value";
import { isSqlName, sqlNameRule } from "../../core/procedure-name";
import type { StoreDialect } from "../../ports/task-store";
import type { SchemaIssue, StandardSchema } from "./standard-schema";

/** A stored procedure to call: what the payload of a SQL task says. */
export type SqlCall = {
  /** `schema.name`, as the list of allowed ones writes it. */
  readonly procedure: string;
  /** By name, without `@`. Texts, numbers, booleans and nulls; the server converts them to the parameters' types. */
  readonly parameters?: Readonly<Record<string, string | number | boolean | null>>;
};

/** A statement with its values. */
export interface SqlStatement {
  readonly text: string;
  readonly values: readonly (string | number | boolean | null)[];
}

const parametersMax = 100;

/** Payloads that call one of `procedures`; anything else ends as a dead letter with its problems. */
export function sqlCallSchema(procedures: readonly string[]): StandardSchema<SqlCall> {
  return {
    "~standard": {
      version: 1,
      vendor: "taskgate",
      validate: (value) => {
        const issues = problemsOf(value, procedures);
        return issues.length > 0 ? { issues } : { value: value as SqlCall };
      },
    },
  };
}

function problemsOf(value: unknown, procedures: readonly string[]): SchemaIssue[] {
  const { procedure, parameters, ...rest } = (value ?? {}) as Record<string, unknown>;
  const issues: SchemaIssue[] = Object.keys(rest).map((name) => ({
    path: [name],
    message: "unknown member; known are procedure and parameters",
  }));
  if (typeof procedure !== "string" || !procedures.includes(procedure)) {
    const message = `expected one of the allowed procedures (${procedures.join(", ")}), got ${showValue(procedure)}`;
    issues.push({ path: ["procedure"], message });
  }
  if (parameters !== undefined) issues.push(...problemsOfParameters(parameters));
  return issues;
}

function showValue(value: unknown): string {
  return value === undefined ? "nothing" : JSON.stringify(value).slice(0, 100);
}

function problemsOfParameters(parameters: unknown): SchemaIssue[] {
  if (!isObject(parameters))
    return [{ path: ["parameters"], message: "expected an object of names and values" }];
  const entries = Object.entries(parameters);
  if (entries.length > parametersMax) {
    const message = `expected at most ${String(parametersMax)} parameters, got ${String(entries.length)}`;
    return [{ path: ["parameters"], message }];
  }
  return entries.flatMap(([name, value]): SchemaIssue[] => {
    const path = ["parameters", name];
    if (!isSqlName(name)) return [{ path, message: `expected ${sqlNameRule}` }];
    return value !== null && typeof value === "object"
      ? [{ path, message: "expected a text, a number, true, false or null" }]
      : [];
  });
}

/** The call as T-SQL, or as PL/pgSQL of a procedure or a function. The names have been checked. */
export function toStatement(
  call: SqlCall,
  as: { dialect: Exclude<StoreDialect, "memory">; isFunction: boolean },
): SqlStatement {
  const entries = Object.entries(call.parameters ?? {});
  const values = entries.map(([, value]) => value);
  if (as.dialect === "mssql") {
    const target = call.procedure.split(".").map((part) => `[${part}]`);
    const list = entries.map(([name], index) => `@${name} = @p${String(index + 1)}`);
    return { text: `EXEC ${target.join(".")} ${list.join(", ")};`.replace(" ;", ";"), values };
  }
  const target = call.procedure.split(".").map((part) => `"${part}"`);
  const list = entries.map(([name], index) => `"${name}" => $${String(index + 1)}`);
  const head = as.isFunction ? "select * from" : "call";
  return { text: `${head} ${target.join(".")}(${list.join(", ")})`, values };
}
