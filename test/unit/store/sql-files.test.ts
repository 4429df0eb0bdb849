import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { openSqlFiles } from "../../../shared/store/sql-files";

const folder = mkdtempSync(join(tmpdir(), "taskgate-sql-files-"));
const texts = {
  "migrations/0002_b.sql": "create table b (c int);\n-- # no name\n",
  "migrations/0001_a.sql": "create table a (c int);\n",
  "order.txt": "functions/a.sql\n",
};

beforeAll(() => {
  mkdirSync(join(folder, "plain", "migrations"), { recursive: true });
  mkdirSync(join(folder, "packed"));
  for (const [path, text] of Object.entries(texts))
    writeFileSync(join(folder, "plain", path), text);
  const parts = Object.entries(texts).map(([path, text]) => `--# ${path}\n${text}`);
  writeFileSync(join(folder, "packed", "all.sql"), `-- A heading.\n${parts.join("")}`);
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

describe.each(["plain", "packed"])("SQL files, %s", (form) => {
  test("the SQL files of a dialect are listed by subfolder in ascending order", () => {
    const files = openSqlFiles(join(folder, form));
    expect(files.list("migrations")).toEqual(["migrations/0001_a.sql", "migrations/0002_b.sql"]);
    expect(files.list("views")).toEqual([]);
  });

  test("the SQL files of a dialect are read to the last character", () => {
    const files = openSqlFiles(join(folder, form));
    for (const [path, text] of Object.entries(texts)) expect(files.read(path)).toBe(text);
    expect(files.read("roles.sql")).toBe(null);
  });
});

test("a folder that is missing is an error that names it", () => {
  expect(() => openSqlFiles(join(folder, "none"))).toThrow(/ENOENT.*none/);
});
