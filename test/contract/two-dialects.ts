import type { StoreDialect } from "../../shared/ports/task-store";

/** A database that takes statements. */
export type SqlDialect = Exclude<StoreDialect, "memory">;

/** What both databases write in their own way. */
const ownWords: Record<SqlDialect, Readonly<Record<string, string>>> = {
  postgres: {
    now: "taskgate._now()",
    minuteAgo: "taskgate._now() - interval '1 minute'",
    uuid: "gen_random_uuid()",
    true: "true",
    numbers: "generate_series(1, 1000) as numbers (n)",
  },
  mssql: {
    now: "SYSUTCDATETIME()",
    minuteAgo: "DATEADD(MINUTE, -1, SYSUTCDATETIME())",
    uuid: "NEWID()",
    true: "1",
    numbers: "Taskgate.Number",
  },
};

/**
 * One statement for both databases, so that a test plants the same in each: names of tables and columns as PostgreSQL
 * writes them and in lower case, keywords in capitals, `{now}` and the others above, of which `{numbers}` is a table of
 * 1..1000 in column `n`, and `{name}` for each of `values`, which are put in as they are.
 */
export function inDialect(
  dialect: SqlDialect,
  sql: string,
  values: ReadonlyMap<string, string>,
): string {
  const words = ownWords[dialect];
  return sql.replace(/'[^']*'|\{\w+\}|\b[a-z]\w*/g, (word) => {
    if (word.startsWith("{")) return words[word.slice(1, -1)] ?? valueOf(values, word.slice(1, -1));
    if (word.startsWith("'")) {
      const text = fill(word, values);
      return dialect === "mssql" ? `N${text}` : text;
    }
    return dialect === "mssql" ? pascalCase(word) : word;
  });
}

/** A text with the values of its `{name}`s. */
export function fill(text: string, values: ReadonlyMap<string, string>): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => valueOf(values, name));
}

function valueOf(values: ReadonlyMap<string, string>, name: string): string {
  const value = values.get(name);
  if (value === undefined) throw new Error(`{${name}} stands for nothing here`);
  return value;
}

/** `task_id` -> `TaskId`: the rule by which the names of both databases belong together. */
function pascalCase(name: string): string {
  return name
    .split("_")
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join("");
}
