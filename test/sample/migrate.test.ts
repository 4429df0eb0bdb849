import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { ensureBuilt, root } from "../functions/built-app";
import { inEmptyDatabase, rowsOf } from "../migration/empty-database";

/* `taskgate migrate --sample`, as the deployment's hook runs it. */
const cli = join(root, "dist/shared/cli/main.js");

beforeAll(() => {
  ensureBuilt();
}, 180_000);

async function taskgate(...given: string[]): Promise<{ stdout: string }> {
  return promisify(execFile)(process.execPath, [cli, ...given], {
    env: { PATH: process.env["PATH"] ?? "" },
  });
}

describe("migrate --sample", () => {
  test("migrate --sample makes the sample's tables beside the schema; again, it changes nothing", async () => {
    await inEmptyDatabase(async (url) => {
      const first = await taskgate("migrate", "--sample", "--db", url);
      expect(first.stdout).toMatch(/^Applied 0001_baseline\.$/m);
      expect(first.stdout).toMatch(/^The tables of the sample are there/m);
      await rowsOf(
        url,
        "insert into flights.source_file (event_id, name, record_count, imported_at) values ('e1', 'a.json', 1, now()) returning 1",
      );
      const second = await taskgate("migrate", "--sample", "--db", url, "--json");
      expect(JSON.parse(second.stdout)).toMatchObject({ applied: [], isLogicRenewed: false });
      expect(await rowsOf(url, "select event_id from flights.source_file")).toEqual([
        { event_id: "e1" },
      ]);
    });
  });

  test("migrate without --sample makes no table of the sample", async () => {
    await inEmptyDatabase(async (url) => {
      await taskgate("migrate", "--db", url);
      expect(await rowsOf(url, "select to_regclass('flights.airport') as found")).toEqual([
        { found: null },
      ]);
    });
  });

  test("migrate --sample beside --check is refused, which changes nothing", async () => {
    const refused = taskgate("migrate", "--check", "--sample", "--db", "postgres://localhost/none");
    await expect(refused).rejects.toMatchObject({ code: 2 });
    await expect(refused).rejects.toThrow(/--sample: got set, expected no --check/);
  });
});
