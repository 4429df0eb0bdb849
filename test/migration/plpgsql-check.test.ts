import { expect, test } from "@jest/globals";
import { migrateStore } from "../../shared/store/open-store";
import { withClient } from "../support/test-postgres";
import { inEmptyDatabase } from "./empty-database";

// Goal: `plpgsql_check`, which plans each statement of a function without running it, finds nothing in the procedures: no
// column that isn't there, no value that no statement reads, no text that could become a statement.
const isEmbedded = process.env["TASKGATE_TEST_POSTGRES_URL"] === undefined;
const note = isEmbedded ? " (skipped: the embedded server doesn't have it)" : "";
const testHere = isEmbedded ? test.skip : test;

/** Texts are read as their column's type, and counts are kept as int. */
const meantMessage = "target type is different type than source type";
/** It only sees whether a text can be converted. */
const meantVariable = '_find_bad_entry: never read variable "v_ignored"';

testHere(`the extension plpgsql_check finds nothing in the procedures${note}`, async () => {
  await inEmptyDatabase(async (url) => {
    await migrateStore({ url });
    const found = await withClient(url, async (client) => {
      // Debian's packages: postgresql-NN-plpgsql-check.
      await client.query("create extension plpgsql_check");
      // Most procedures have it of their own; helpers run under that of their caller.
      await client.query("set search_path = taskgate, public");
      const { rows } = await client.query<{ functionName: string; message: string }>(
        `select p.proname as "functionName", c.message
           from pg_proc p join pg_language l on l.oid = p.prolang
          cross join lateral plpgsql_check_function_tb(p.oid, extra_warnings => true, security_warnings => true,
                  compatibility_warnings => true) c
          where p.pronamespace = 'taskgate'::regnamespace and l.lanname = 'plpgsql' and p.prorettype <> 'trigger'::regtype
          order by p.proname, c.message`,
      );
      return rows;
    });
    const told = found
      .filter(({ message }) => message !== meantMessage)
      .map(({ functionName, message }) => `${functionName}: ${message}`);
    expect(told).toEqual([meantVariable]);
  });
});
