import { describe, expect, test } from "@jest/globals";
import "../support/node-errors";
import { runCli } from "../../shared/cli/main";
import { migrateStore } from "../../shared/store/open-store";
import { withClient } from "../support/test-postgres";
import { inEmptyDatabase, rowsOf } from "./empty-database";

/*
 * Goal: a database that was restored, or moved, is made whole by `migrate`. A dump has no roles, since they are the server's;
 * without privileges it leaves the functions to everybody, and nothing to the roles.
 */

/** The rights of both roles and of the public on all functions of a schema. */
const rights = (url: string, schema: string): Promise<unknown[]> =>
  rowsOf(
    url,
    `select p.proname, array(select coalesce(r.rolname, 'public') || ' ' || a.privilege_type
                               from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
                               left join pg_roles r on r.oid = a.grantee order by 1) as rights
       from pg_proc p where p.pronamespace = '${schema}'::regnamespace order by p.oid::regprocedure::text`,
  );

async function check(url: string, environment: Record<string, string> = {}): Promise<string> {
  const lines: string[] = [];
  const write = (text: string): void => void lines.push(text);
  const output = { line: write, error: write, columns: null };
  const words = ["migrate", "--check", "--db", url];
  const code = await runCli({ words, environment, folder: "/", output });
  return `${String(code)}: ${lines.join("\n")}`;
}

const ways: [string, string][] = [
  [
    "without privileges",
    `do $$ declare f record; begin
       for f in select oid::regprocedure as name from pg_proc where pronamespace = 'taskgate'::regnamespace loop
         execute format('revoke all on function %s from taskgate_worker, taskgate_operator', f.name);
         execute format('grant execute on function %s to public', f.name);
       end loop;
     end $$;
     revoke all on schema taskgate from taskgate_worker, taskgate_operator`,
  ],
  ["open to everybody", "grant execute on function taskgate.set_stop to public"],
  ["with one role less", "revoke usage on schema taskgate from taskgate_worker"],
];

describe("migrate gives the roles their rights again in a database that was restored", () => {
  test.each(ways)(
    "migrate gives the roles their rights again in a restored database %s",
    async (_, loseRights) => {
      await inEmptyDatabase(async (url) => {
        await migrateStore({ url });
        const before = await rights(url, "taskgate");
        await withClient(url, (client) => client.query(loseRights));
        expect(await check(url)).toBe(
          "1: The roles lack rights, as after a dump was restored. Run `npx taskgate migrate`.",
        );
        expect(await migrateStore({ url })).toEqual({ applied: [], isLogicRenewed: true });
        expect(await rights(url, "taskgate")).toEqual(before);
        expect(await check(url)).toMatch(/^0: The schema is at version /);
        expect(await migrateStore({ url })).toEqual({ applied: [], isLogicRenewed: false });
      });
    },
  );
});

test("migrate makes the functions of a schema that was renamed look into it", async () => {
  await inEmptyDatabase(async (url) => {
    await migrateStore({ url });
    await withClient(url, (client) => client.query("alter schema taskgate rename to jobs"));
    const schema = "jobs";
    expect(await migrateStore({ url, schema })).toEqual({ applied: [], isLogicRenewed: true });
    expect(await rowsOf(url, "select * from jobs.check_invariants()")).toEqual([
      { status: "sound", findings: "[]" },
    ]);
    expect(await migrateStore({ url, schema })).toEqual({ applied: [], isLogicRenewed: false });
  });
});
