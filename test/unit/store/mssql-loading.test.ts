import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "@jest/globals";

const root = join(__dirname, "..", "..", "..");

/** The packages that a fresh process has loaded after running `code`. */
function packagesAfter(code: string): string[] {
  const report = `
    const found = Object.keys(require.cache).map((path) => path.replaceAll("\\\\", "/")).map((path) => /node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(path)?.[1]);
    process.stdout.write(JSON.stringify([...new Set(found)].filter(Boolean)));
    // Not after the repeats of a call that reaches no server.
    process.exit();`;
  const output = execFileSync(
    process.execPath,
    ["-r", join(root, "test/support/register-swc.cjs"), "-e", code + report],
    { cwd: root, encoding: "utf8" },
  );
  return JSON.parse(output) as string[];
}

const open = 'const { openStore } = require("./shared/store/open-store.ts");';
const options = "connectionsMax: 1, random: {}, sleep: () => {}";
const drivers = ["mssql", "tedious", "@azure/identity", "pg"];

test("importing the store loads no driver", () => {
  expect(packagesAfter(open).filter((name) => drivers.includes(name))).toEqual([]);
});

test("opening a store of SQL Server loads none before the first call, and never that of PostgreSQL", () => {
  const url = "mssql://u:p@localhost/d";
  const packages = packagesAfter(`${open} openStore({ url: "${url}", ${options} });`);
  expect(packages.filter((name) => drivers.includes(name))).toEqual([]);
  const called = packagesAfter(
    `${open} openStore({ url: "${url}", ${options} }).sweep({ max: 1 }).catch(() => {});`,
  );
  expect(called).toEqual(expect.arrayContaining(["mssql", "tedious"]));
  expect(called).not.toContain("pg");
});

test("opening a store of PostgreSQL loads its driver only", () => {
  const packages = packagesAfter(`${open} openStore({ url: "postgres://u@h/d", ${options} });`);
  expect(packages.filter((name) => drivers.includes(name))).toEqual(["pg"]);
});
