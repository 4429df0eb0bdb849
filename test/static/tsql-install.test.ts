import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { listLogic } from "../../shared/store/migrator";
import { root } from "./sql/read-sql";
import { findOrderFaults, findRightFaults, listReadable } from "./tsql/install";
import type { InstalledFile } from "./tsql/install";

/*
 * What a server would refuse while the T-SQL is installed, or later by right, as far as names tell it. The simulation
 * refuses the same when it runs the files, and Microsoft's schema model where .NET is at hand.
 */
const folder = join(root, "shared/store/mssql/sql");
const migrations = readdirSync(join(folder, "migrations"))
  .filter((file) => file.endsWith(".sql"))
  .sort()
  .map((file) => `migrations/${file}`);
const logic = listLogic(folder);
const files = read([...migrations, ...logic]);

function read(paths: readonly string[]): InstalledFile[] {
  return paths.map((path) => ({ name: path, text: readFileSync(join(folder, path), "utf8") }));
}

function withoutLine(line: RegExp): InstalledFile[] {
  const changed = files.map((file) => ({ ...file, text: file.text.replace(line, "") }));
  expect(changed).not.toEqual(files);
  return changed;
}

describe("the order of the installation", () => {
  test("order.txt makes nothing before what it needs", () => {
    expect(logic.length).toBeGreaterThan(95);
    expect(findOrderFaults(files)).toEqual([]);
  });

  test("an alphabetical order is found: inline functions come before what they call", () => {
    const faults = findOrderFaults(read([...migrations, ...[...logic].sort()]));
    expect(faults).toContain("functions/_IsAsked.sql: 208 needs _OpenDemand");
    expect(faults.length).toBeGreaterThanOrEqual(5);
  });

  test("a migration that comes after the logic is found: its table, its type and its grant are missing", () => {
    const faults = findOrderFaults(read([...logic, ...migrations]));
    expect(faults).toContain("views/vExecutionLog.sql: 208 needs Task");
    expect(faults).toContain("procedures/_LockKeys.sql: 2715 needs the type KeyLockList");
    expect(faults).toContain("roles.sql: 15151 needs SchemaVersion");
  });

  test("a grant on a procedure that is gone is found", () => {
    const faults = findOrderFaults(files.filter((file) => file.name !== "procedures/Work.sql"));
    expect(faults).toEqual(["roles.sql: 15151 needs Work"]);
  });
});

describe("the rights of the roles", () => {
  test("each role may execute each type that its procedures declare, also in what they call", () => {
    expect(findRightFaults(files)).toEqual([]);
  });

  test("a missing grant on a table type is found for every procedure that reaches the type", () => {
    const faults = findRightFaults(
      withoutLine(/GRANT EXECUTE ON TYPE::Taskgate\.KeyLockList[^;]*;/),
    );
    expect(faults).toContain(
      "229: TaskgateWorker may execute EnqueueTasks, not its type KeyLockList",
    );
    expect(faults).toContain("229: TaskgateWorker may execute Work, not its type KeyLockList");
    expect(faults).toContain(
      "229: TaskgateOperator may execute SetLimit, not its type KeyLockList",
    );
  });

  test("an operation that no role may execute is found", () => {
    expect(findRightFaults(withoutLine(/GRANT EXECUTE ON OBJECT::Taskgate\.Sweep [^;]*;/))).toEqual(
      ["Sweep is granted to nobody"],
    );
  });

  test("workers read nothing but the log and the schema's version", () => {
    expect(listReadable(files, "TaskgateWorker")).toEqual([
      "SELECT vExecutionLog",
      "SELECT SchemaVersion",
    ]);
  });
});
