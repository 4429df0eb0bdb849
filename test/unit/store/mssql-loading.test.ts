import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { packagesLoadedBy } from "../../support/loaded-packages";

const root = join(__dirname, "..", "..", "..");

/** The packages that are loaded from the sources after running `code`. */
function packagesAfter(code: string): string[] {
  const register = join(root, "test/support/register-swc.cjs");
  return packagesLoadedBy(code, { cwd: root, nodeArguments: ["-r", register] });
}

const open = 'const { openStore } = require("./shared/store/open-store.ts");';
const options = "connectionsMax: 1, random: {}, sleep: () => {}";
const drivers = ["mssql", "tedious", "@azure/identity", "pg"];

test("an import of the store loads no driver", () => {
  expect(packagesAfter(open).filter((name) => drivers.includes(name))).toEqual([]);
});

test("a new store of SQL Server loads no driver before the first call, and never that of PostgreSQL", () => {
  const url = "mssql://u:p@localhost/d";
  const packages = packagesAfter(`${open} openStore({ url: "${url}", ${options} });`);
  expect(packages.filter((name) => drivers.includes(name))).toEqual([]);
  const called = packagesAfter(
    `${open} openStore({ url: "${url}", ${options} }).sweep({ max: 1 }).catch(() => {});`,
  );
  expect(called).toEqual(expect.arrayContaining(["mssql", "tedious"]));
  expect(called).not.toContain("pg");
});

test("a new store of PostgreSQL loads its driver only", () => {
  const packages = packagesAfter(`${open} openStore({ url: "postgres://u@h/d", ${options} });`);
  expect(packages.filter((name) => drivers.includes(name))).toEqual(["pg"]);
});
