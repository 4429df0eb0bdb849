import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { createTestDatabase, withClient } from "../support/test-postgres";
import { dumpSchema } from "./schema-dump";

/*
 * Goal: no change of the schema is unseen. The result of the scripts is compared with a text in the repository, which a
 * review shows as a diff. TASKGATE_TEST_UPDATE_SCHEMA=1 writes that text anew.
 */
const file = join(__dirname, "schema.postgres.sql");
const update =
  "TASKGATE_TEST_UPDATE_SCHEMA=1 npx jest -c test/jest.config.cjs test/migration/schema-snapshot";
const head = `-- The schema that the scripts of shared/store/postgres/sql make, from the catalogs. Not to be run.\n-- Written by: ${update}\n\n`;

test("the schema is the one in test/migration/schema.postgres.sql", async () => {
  const database = await createTestDatabase();
  const dump = head + (await withClient(database.url, (client) => dumpSchema(client, "taskgate")));
  if (process.env["TASKGATE_TEST_UPDATE_SCHEMA"] === "1") writeFileSync(file, dump);

  const known = existsSync(file) ? readFileSync(file, "utf8") : "";

  const lines = known.split("\n");
  const made = dump.split("\n");
  const difference = {
    hint: `when the change is meant: ${update}`,
    gone: lines.filter((line) => !made.includes(line)),
    new: made.filter((line) => !lines.includes(line)),
    isSameOrder: known === dump || made.length !== lines.length,
  };
  expect(difference).toEqual({ hint: difference.hint, gone: [], new: [], isSameOrder: true });
  await database.drop();
});
