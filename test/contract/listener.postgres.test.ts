import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";
import { urlAs } from "../support/roles";
import { createTestDatabase } from "../support/test-postgres";

test("a process that waits for several definitions sends one query at a time over a connection", async () => {
  const database = await createTestDatabase();
  const register = join(__dirname, "../support/register-swc.cjs");
  const { PATH, HOME } = process.env;
  // The driver says so where a second query is sent before the first is answered.
  const { stderr } = await promisify(execFile)(
    process.execPath,
    ["-r", register, join(__dirname, "listener-process.ts")],
    { env: { PATH, HOME, TASKGATE_DATABASE_URL: urlAs(database.url, "worker") } },
  );
  await database.drop();
  expect(stderr).toBe("");
});
