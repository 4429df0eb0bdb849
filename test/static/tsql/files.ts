import { readFileSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { root } from "../sql/read-sql";

/** One batch: the text between two lines that say GO. */
export interface Batch {
  readonly text: string;
  /** Of its first character in the file. */
  readonly line: number;
}

/** One file with its batches. */
export interface TsqlFile {
  /** From the repository's root. */
  readonly path: string;
  readonly text: string;
  readonly batches: readonly Batch[];
}

/** Every T-SQL file that is shipped. */
export function readTsqlFiles(): TsqlFile[] {
  const core = listSql(join(root, "shared/store/mssql"));
  const tasks = listSql(join(root, "functions/tasks")).filter((path) => path.endsWith("mssql.sql"));
  return [...core, ...tasks]
    .map((path) => toFile(relative(root, path), readFileSync(path, "utf8")))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** A file of another text, as if it were shipped. */
export function toFile(path: string, text: string): TsqlFile {
  const batches: Batch[] = [];
  let lines: string[] = [];
  let line = 1;
  for (const [index, current] of text.split("\n").entries()) {
    if (current.trim() === "GO") {
      batches.push({ text: lines.join("\n"), line });
      lines = [];
      line = index + 2;
    } else lines.push(current);
  }
  batches.push({ text: lines.join("\n"), line });
  return { path, text, batches: batches.filter((batch) => !isEmpty(batch.text)) };
}

function isEmpty(text: string): boolean {
  return text.replace(/--[^\n]*|\/\*[\s\S]*?\*\//g, "").trim() === "";
}

function listSql(folder: string): string[] {
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((path) => path.endsWith(".sql"));
}
