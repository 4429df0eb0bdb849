import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import "../support/node-errors";
import { mssqlScripts, postgresScripts } from "../../shared/store/open-store";

/*
 * Databases remember the checksums of the migrations they were made with and refuse others. So a migration is frozen
 * once it is listed here; what changes later is a new migration.
 */
const root = join(__dirname, "../..");
const add =
  "a new migration is listed by `node .ci/freeze-migrations.cjs`; a listed one is never edited";
const scripts = { postgres: postgresScripts(), mssql: mssqlScripts() } as const;

function readFrozen(dialect: string): Record<string, string> {
  const path = join(root, "shared/store", dialect, "sql/migrations/frozen.json");
  const value: unknown = JSON.parse(readFileSync(path, "utf8"));
  return value as Record<string, string>;
}

describe.each(["postgres", "mssql"] as const)("migrations of %s", (dialect) => {
  const folder = join(root, "shared/store", dialect, "sql/migrations");
  const files = readdirSync(folder).filter((file) => file.endsWith(".sql"));

  test("every file is listed with its hash, and nothing else is", () => {
    const hashes = Object.fromEntries(
      files.map((file) => [
        file,
        createHash("sha256")
          .update(readFileSync(join(folder, file), "utf8"))
          .digest("hex"),
      ]),
    );
    expect({ hint: add, ...readFrozen(dialect) }).toEqual({ hint: add, ...hashes });
  });

  test("the migrator takes the same hash for its record", () => {
    const frozen = readFrozen(dialect);
    for (const { version, name, checksum } of scripts[dialect].migrations) {
      expect(frozen[`${String(version).padStart(4, "0")}_${name}.sql`]).toBe(checksum);
    }
  });

  test("versions count up from 1 without a gap, and names are the other dialect's", () => {
    const other = dialect === "postgres" ? "mssql" : "postgres";
    const { migrations } = scripts[dialect];
    expect(migrations.map((script) => script.version)).toEqual(
      migrations.map((_, index) => index + 1),
    );
    expect(migrations.map((script) => script.name)).toEqual(
      scripts[other].migrations.map((script) => script.name),
    );
  });

  test.each(files)(
    "%s says how long it takes, what it locks and whether old code may run beside it",
    (file) => {
      const head = readFileSync(join(folder, file), "utf8").split("\n\n")[0] ?? "";
      for (const word of ["Duration:", "Locks:", "Old code"])
        expect([word, head.includes(word)]).toEqual([word, true]);
    },
  );

  test.each(files)("%s has line ends of one byte and no byte order mark", (file) => {
    const bytes = readFileSync(join(folder, file));
    expect([bytes.includes(13), bytes[0] === 0xef]).toEqual([false, false]);
  });
});
