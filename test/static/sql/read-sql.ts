import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** The repository. */
export const root = join(__dirname, "../../..");

/** One procedure, function or view with what the checks need of it. */
export interface SqlFile {
  /** As the file says it: work, _SettleTokens. */
  readonly name: string;
  readonly path: string;
  readonly text: string;
  /** Label -> text of the header, continuation lines joined. */
  readonly header: ReadonlyMap<string, string>;
  readonly parameters: readonly SqlParameter[];
  /** Columns of the answer, in order. */
  readonly columns: readonly string[];
}

/** Name without p_ or @, type in lower case. */
export interface SqlParameter {
  readonly name: string;
  readonly type: string;
}

const labels = [
  "In",
  "Out",
  "Rows",
  "Columns",
  "Raises",
  "Locks",
  "Isolation",
  "Plan",
  "Once",
  "Twin",
];

/** All files of one folder. */
export function readFolder(folder: string, dialect: "postgres" | "mssql"): SqlFile[] {
  const path = join(root, "shared/store", dialect, "sql", folder);
  return readdirSync(path)
    .filter((file) => file.endsWith(".sql"))
    .map((file) => {
      const text = readFileSync(join(path, file), "utf8");
      const parts = dialect === "postgres" ? readPostgres(text) : readMssql(text);
      return {
        name: file.replace(/\.sql$/, ""),
        path: join(path, file),
        text,
        header: readHeader(text),
        ...parts,
      };
    });
}

function readHeader(text: string): Map<string, string> {
  const header = new Map<string, string>();
  let label: string | null = null;
  for (const line of text.split("\n")) {
    if (!line.startsWith("--")) break;
    const match = /^-- ([A-Z][a-z]+):\s*(.*)$/.exec(line);
    if (match !== null && labels.includes(match[1] ?? "")) {
      label = match[1] ?? "";
      header.set(label, match[2] ?? "");
    } else if (label !== null) {
      header.set(label, `${header.get(label) ?? ""} ${line.replace(/^--\s*/, "")}`);
    }
  }
  return header;
}

function readPostgres(text: string): Pick<SqlFile, "parameters" | "columns"> {
  const match =
    /create or replace function taskgate\.\w+\(([\s\S]*?)\)\s*(?:\n|returns|language)/.exec(text);
  const entries = splitList(match?.[1] ?? "");
  const inputs = entries.filter((entry) => !entry.startsWith("out "));
  const outputs = entries.filter((entry) => entry.startsWith("out "));
  return {
    parameters: inputs.map((entry) => {
      const [name = "", ...type] = entry.replace(/ default .*$/, "").split(/\s+/);
      return { name: name.replace(/^p_/, ""), type: type.join(" ").toLowerCase() };
    }),
    columns: outputs.map((entry) => entry.split(/\s+/)[1] ?? ""),
  };
}

function readMssql(text: string): Pick<SqlFile, "parameters" | "columns"> {
  const procedure = /CREATE OR ALTER PROCEDURE Taskgate\.\w+\s*\n([\s\S]*?)\nAS\n/.exec(text)?.[1];
  const func = /CREATE OR ALTER FUNCTION Taskgate\.\w+\s*\(([\s\S]*?)\)\s*\n?RETURNS/.exec(
    text,
  )?.[1];
  const inputs = splitList(procedure ?? func ?? "").filter(
    (entry) => entry.startsWith("@") && !/ OUTPUT$/.test(entry),
  );
  const last = text.lastIndexOf("AS [Status]");
  const answer = last < 0 ? "" : text.slice(last);
  return {
    parameters: inputs.map((entry) => {
      const [name = "", ...type] = entry
        .replace(/ = .*$/, "")
        .replace(/ READONLY$/, "")
        .split(/\s+/);
      return { name: name.replace(/^@/, ""), type: type.join(" ").toLowerCase() };
    }),
    columns: [...answer.matchAll(/AS \[(\w+)\]/g)].map((column) => column[1] ?? ""),
  };
}

/** Splits at commas outside parentheses. */
function splitList(text: string): string[] {
  const entries: string[] = [];
  let depth = 0;
  let current = "";
  for (const letter of text.replace(/--.*$/gm, "")) {
    if (letter === "(") depth += 1;
    if (letter === ")") depth -= 1;
    if (letter === "," && depth === 0) {
      entries.push(current);
      current = "";
    } else current += letter;
  }
  entries.push(current);
  return entries.map((entry) => entry.trim().replace(/\s+/g, " ")).filter((entry) => entry !== "");
}

/** Tables of a baseline with their columns, in order. */
export function readTables(dialect: "postgres" | "mssql"): Map<string, string[]> {
  const path = join(root, "shared/store", dialect, "sql/migrations/0001_baseline.sql");
  const text = readFileSync(path, "utf8").replace(/--.*$/gm, "");
  const tables = new Map<string, string[]>();
  const pattern =
    dialect === "postgres"
      ? /create table taskgate\.(\w+) \(([\s\S]*?)\n\)/g
      : /CREATE TABLE Taskgate\.(\w+) \(([\s\S]*?)\n?\);?\n(?:GO|CREATE|ALTER|\n|INSERT)/g;
  for (const match of text.matchAll(pattern)) {
    const columns = splitList(match[2] ?? "")
      .filter((entry) => !/^(constraint|primary|unique|check)\b/i.test(entry))
      .map((entry) => (entry.split(/\s+/)[0] ?? "").replace(/^\[(.*)\]$/, "$1"));
    tables.set(match[1] ?? "", columns);
  }
  return tables;
}
