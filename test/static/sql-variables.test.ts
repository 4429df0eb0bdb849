import { expect, test } from "@jest/globals";
import { readFolder } from "./sql/read-sql";

/*
 * Every variable of the SQL is read by something. One that is only written is left over from a change, and its value may be a
 * read that costs.
 */

/**
 * T-SQL reads a row into a variable only to lock it, or to start a transaction as its caller has set it; PL/pgSQL takes a value
 * only to see that it can be converted.
 */
const writtenOnly: ReadonlySet<string> = new Set([
  "AdvanceWatermark @vStart",
  "CompleteTask @vStart",
  "EnqueueTasks @vStart",
  "_EnterWave @vGate",
  "_TakeTasks @vCount",
  "_find_bad_entry v_ignored",
]);

/** Without comments and without the insides of texts. */
function plainText(text: string): string {
  return text.replace(/--[^\n]*|\/\*[\s\S]*?\*\//g, "").replace(/'(?:[^']|'')*'/g, "''");
}

const tsqlTypes = String.raw`(?:AS\s+)?(?:(?:big|small|tiny)?int|bit|n?(?:var)?char|datetime2|uniqueidentifier|varbinary|TABLE|Taskgate\.)\b`;

/** Names of T-SQL variables that are declared or written, and nowhere read; what a call gives back may be left alone. */
function unreadInTsql(text: string): string[] {
  const plain = plainText(text);
  const names = new Set(plain.match(/@v\w+/g) ?? []);
  return [...names].filter((name) => {
    const declared = new RegExp(String.raw`${name}\s+${tsqlTypes}`, "g");
    const written = new RegExp(String.raw`(?<=\b(?:SELECT|SET)\s+|,\s*)${name}\s*=`, "g");
    return !new RegExp(String.raw`${name}\b`).test(
      plain.replace(declared, "").replace(written, ""),
    );
  });
}

/** Names of PL/pgSQL variables that the body never names, or only writes. */
function unreadInPlpgsql(text: string): string[] {
  const [, declared = "", body = ""] =
    /\bdeclare\b([\s\S]*?)\n *begin\b([\s\S]*)/.exec(plainText(text)) ?? [];
  const names = declared
    .split(";")
    .map((line) => /^\s*(\w+)\s/.exec(line)?.[1] ?? "")
    .filter((name) => name !== "");
  return names.filter((name) => {
    const written = new RegExp(String.raw`\b${name}\s*:=`, "g");
    const counted = new RegExp(
      String.raw`\bfor\s+${name}\s+in\s+(?:reverse\s)?[\s\S]*?\.\.[\s\S]*?\bend loop\b`,
      "g",
    );
    const rest = [written, counted].reduce((left, each) => left.replace(each, ""), body);
    return !new RegExp(String.raw`\b${name}\b`).test(rest);
  });
}

test("every variable of T-SQL is read", () => {
  const files = [...readFolder("procedures", "mssql"), ...readFolder("functions", "mssql")];
  const found = files.flatMap(({ name, text }) =>
    unreadInTsql(text).map((each) => `${name} ${each}`),
  );
  expect(found.filter((each) => !writtenOnly.has(each))).toEqual([]);
  expect(
    unreadInTsql(
      "DECLARE @vA int = 1, @vB int; SELECT @vA = x.A FROM T AS x; SET @vB = 2; SELECT @vB;",
    ),
  ).toEqual(["@vA"]);
});

test("every variable of PL/pgSQL is read", () => {
  const found = readFolder("functions", "postgres").flatMap(({ name, text }) =>
    unreadInPlpgsql(text).map((each) => `${name} ${each}`),
  );
  expect(found.filter((each) => !writtenOnly.has(each))).toEqual([]);
  const sample = `declare
  a int; b record; i int; c int;
begin
  a := 1; c := 2; for i in 1..2 loop perform i; end loop; return c;
end`;
  expect(unreadInPlpgsql(sample)).toEqual(["a", "b", "i"]);
});
