import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { operations } from "../../shared/store/operations";
import type { OperationName } from "../../shared/store/operations";
import { parameterTypes, toPascalCase, toSnakeCase } from "../../shared/store/operations/operation";
import { readFolder, readTables, root } from "./sql/read-sql";
import type { SqlFile } from "./sql/read-sql";

/*
 * One operation = one name = one file in each dialect, with the same parameters and the same answer, under the mapped
 * names of docs/internals/style.md. The contract suite tests the behaviour; this finds missing parts.
 */
const postgres = new Map(readFolder("functions", "postgres").map((file) => [file.name, file]));
const mssql = new Map(readFolder("procedures", "mssql").map((file) => [file.name, file]));
const mssqlFunctions = new Map(readFolder("functions", "mssql").map((file) => [file.name, file]));
const views = { postgres: readFolder("views", "postgres"), mssql: readFolder("views", "mssql") };
const names = Object.keys(operations) as OperationName[];

/** task_execution_id -> TaskExecutionId; a leading underscore stays. */
function toMssql(name: string): string {
  return name.replace(
    /^(_?)(.*)$/,
    (_, lead: string, rest: string) =>
      lead +
      rest
        .split("_")
        .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
        .join(""),
  );
}

function file(files: ReadonlyMap<string, SqlFile>, name: string): SqlFile {
  const found = files.get(name);
  if (found === undefined) throw new Error(`there is no file for ${name}`);
  return found;
}

describe("operations", () => {
  test.each(names)(
    "%s has a file in each dialect, a parameter list as the adapters bind it, and the same answer",
    (name) => {
      const { parameters } = operations[name];
      const twin = file(postgres, toSnakeCase(name));
      const other = file(mssql, toPascalCase(name));
      expect(twin.parameters).toEqual(
        parameters.map(([parameter, type]) => ({
          name: toSnakeCase(parameter),
          type: parameterTypes[type].postgres,
        })),
      );
      expect(other.parameters).toEqual(
        parameters.map(([parameter, type]) => ({
          name: toPascalCase(parameter),
          type: parameterTypes[type].mssql,
        })),
      );
      expect(other.columns).toEqual(twin.columns.map(toMssql));
      expect(twin.columns[0]).toBe("status");
    },
  );

  test("each operation is called as its object says", () => {
    expect(Object.values(operations).map(({ name }) => name)).toEqual(names);
  });

  test("no public procedure is missing from the table of operations", () => {
    const open = (files: ReadonlyMap<string, SqlFile>) =>
      [...files.keys()].filter((name) => !name.startsWith("_")).sort();
    expect(open(postgres)).toEqual(names.map(toSnakeCase).sort());
    expect(open(mssql)).toEqual(names.map(toPascalCase).sort());
  });

  test.each(names)("both headers of %s name the same status words", (name) => {
    const words = (text: string | undefined) =>
      [...(/[Ss]tatus: (.*?)(?:;|$)/.exec(text ?? "")?.[1] ?? "").matchAll(/[a-z]+/g)].map(String);
    const twin = words(file(postgres, toSnakeCase(name)).header.get("Out"));
    expect(twin.length).toBeGreaterThan(0);
    const other = new Set(words(file(mssql, toPascalCase(name)).header.get("Out")));
    const literals = (text: string) =>
      new Set([...text.matchAll(/N?'([a-z]+)'/g)].map((match) => match[1]));
    const said = twin.filter((word) => literals(file(postgres, toSnakeCase(name)).text).has(word));
    for (const word of said)
      expect([
        word,
        other.has(word),
        literals(file(mssql, toPascalCase(name)).text).has(word),
      ]).toEqual([word, true, true]);
  });
});

describe("headers", () => {
  const all = [...postgres.values(), ...mssql.values(), ...mssqlFunctions.values()];
  test.each(all.map((entry) => [entry.path.slice(root.length + 1), entry] as const))(
    "the header of %s has its parts in order",
    (_, entry) => {
      const expected = entry.name.startsWith("_")
        ? ["In", "Raises", "Locks", "Plan", "Twin"]
        : ["In", "Out", "Raises", "Locks", "Plan", "Once", "Twin"];
      for (const label of expected)
        expect([label, (entry.header.get(label) ?? "").length > 0]).toEqual([label, true]);
      const first = entry.text.split("\n")[0] ?? "";
      expect(first).toMatch(new RegExp(`^-- [Tt]askgate\\.${entry.name}: \\S`));
      for (const parameter of entry.parameters)
        expect(entry.header.get("In")?.toLowerCase()).toContain(
          parameter.name
            .replace(/^after_.*$/, "after_")
            .toLowerCase()
            .replace(/^after(priority|rank|taskid)$/, "after"),
        );
    },
  );

  test.each(
    [...postgres.values(), ...mssql.values(), ...views.postgres, ...views.mssql].map(
      (entry) => [entry.path.slice(root.length + 1), entry] as const,
    ),
  )("%s names a twin that exists, or says why there is none", (_, entry) => {
    const text = entry.header.get("Twin") ?? "";
    const path = /((?:postgres|mssql)\/sql\/[\w/.]+\.sql)/.exec(text)?.[1];
    const exists = path !== undefined && existsSync(join(root, "shared/store", path));
    expect(exists || /^(none|inside|[A-Z]+[A-Z]|CONVERT|ISJSON|the NULLs)/.test(text)).toBe(true);
  });
});

describe("the data model", () => {
  const left = readTables("postgres");
  const right = readTables("mssql");
  // SQL Server has no arrays: a claim is a row of its own there. Number stands for generate_series.
  const arrays = ["inflight", "inflight_fence", "inflight_at", "prefetched"];
  // Nor has it a row of many done tasks: there each lies in Archive.
  const shared = [...left.keys()].filter((name) => name !== "archive_pack");

  test("both dialects have the same tables", () => {
    expect(
      [...right.keys()].filter((name) => name !== "Claim" && name !== "Number").sort(),
    ).toEqual(shared.map(toMssql).sort());
  });

  test.each(shared)("%s has the same columns in both", (table) => {
    const expected = (left.get(table) ?? [])
      .filter((column) => !arrays.includes(column))
      .map(toMssql);
    expect(new Set(right.get(toMssql(table)))).toEqual(new Set(expected));
  });
});

describe("T-SQL keeps to the decisions", () => {
  const banned: readonly [RegExp, string][] = [
    [/\bMERGE\b/, "MERGE isn't atomic against itself"],
    [/\bNOLOCK\b|READUNCOMMITTED/, "decisions are never made on dirty rows"],
    [/SELECT\s+\*/, "columns are named"],
    [/\bCURSOR\b/, "loops go over a table variable"],
    [
      /\b(GREATEST|LEAST|GENERATE_SERIES|DATETRUNC|JSON_ARRAYAGG|JSON_OBJECT)\s*\(/,
      "not in SQL Server 2019",
    ],
    [/IS\s+(NOT\s+)?DISTINCT\s+FROM/, "not in SQL Server 2019"],
    [/\bWAITFOR\b/, "nothing waits inside a procedure"],
    [/\bGETDATE\s*\(|\bGETUTCDATE\s*\(|\bCURRENT_TIMESTAMP\b/, "time is SYSUTCDATETIME()"],
    [/\bdatetime\b(?!2)/, "datetime rounds to 3.33 ms"],
    [/\bINSERT\s+(?:INTO\s+)?Taskgate\.\w+\s+(?:SELECT|VALUES)/, "INSERT names its columns"],
    [/\bSET\s+ROWCOUNT\b/, "TOP says how many"],
  ];
  const files = [...mssql.values(), ...mssqlFunctions.values(), ...views.mssql];

  test.each(files.map((entry) => [entry.name, entry] as const))(
    "the T-SQL of %s keeps to the decisions",
    (name, entry) => {
      const code = entry.text.replace(/--.*$/gm, "");
      for (const [pattern, reason] of banned)
        expect([reason, pattern.exec(code)?.[0] ?? null]).toEqual([reason, null]);
      for (const hint of code.matchAll(/READPAST[^)]*HOLDLOCK|HOLDLOCK[^)]*READPAST/g))
        expect(["650: READPAST beside HOLDLOCK", hint[0]]).toEqual(["", ""]);
      if (!mssql.has(name)) return;
      expect(code).toMatch(/SET NOCOUNT, XACT_ABORT ON;/);
      if (name.startsWith("_")) {
        // They run at the level that their caller has set.
        expect(code).not.toMatch(/ISOLATION LEVEL|BEGIN TRAN|COMMIT TRAN|ROLLBACK/);
      } else
        expect(code.split("EXEC Taskgate._", 1)[0]).toMatch(
          /SET TRANSACTION ISOLATION LEVEL READ COMMITTED;/,
        );
    },
  );
});

describe("SQL stands in .sql files", () => {
  test("no statement of the core's tables is written in TypeScript", () => {
    const folder = join(root, "shared/store");
    const sources = [
      "sql-task-store.ts",
      "operation-store.ts",
      "repeat.ts",
      "postgres/postgres-caller.ts",
      "postgres/joined-connection.ts",
      "mssql/mssql-caller.ts",
      "mssql/mssql-binding.ts",
      "mssql/mssql-transaction.ts",
      "mssql/joined-mssql-transaction.ts",
      ...readdirSync(join(folder, "operations")).map((file) => `operations/${file}`),
    ];
    expect(sources.length).toBeGreaterThan(20);
    for (const source of sources) {
      const text = readFileSync(join(folder, source), "utf8").replace(
        /\/\*[\s\S]*?\*\/|\/\/.*$/gm,
        "",
      );
      expect([
        source,
        /(insert into|delete from|update \w+ set|from (taskgate|\$\{[^}]*schema[^}]*\})\.\w+ where)/i.exec(
          text,
        )?.[0] ?? null,
      ]).toEqual([source, null]);
    }
  });
});

test("a long list is never compared entry by entry with another: an operator over a list isn't hashed in a kept plan", () => {
  const hot = ["work", "_end_tasks", "_hand_over", "_claimed", "_drop_claims"];
  const bulk = ["_enqueue_grouped", "_replace_payloads", "_promote", "_purge_tasks"];
  for (const name of [...hot, ...bulk]) {
    const lines = file(postgres, name).text.split("\n");
    const comparing = lines.filter((line) => /(?:unnest.*| u\.\w+ )(?:= any|<> all) \(/.test(line));
    expect([name, ...comparing]).toEqual([name]);
  }
});

test("each operation on PostgreSQL forbids the plans that read more than they answer, but for the check that reads all", () => {
  const forbidden = ["seqscan", "hashjoin", "mergejoin", "bitmapscan"];
  for (const name of names.map(toSnakeCase)) {
    const { text } = file(postgres, name);
    const missing = forbidden.filter((plan) => !text.includes(`set enable_${plan} = off`));
    expect([name, missing]).toEqual([name, name === "check_invariants" ? forbidden : []]);
  }
});

// Compiling the plan of the check of all invariants takes seconds. Before version 18 the cost of a forbidden scan that is
// needed counts, too: each call would compile.
test("every operation on PostgreSQL turns the compilation of its plans off", () => {
  for (const { name, text } of postgres.values()) {
    const isOperation = !name.startsWith("_");
    expect([name, text.includes("set jit = off")]).toEqual([name, isOperation]);
  }
});
