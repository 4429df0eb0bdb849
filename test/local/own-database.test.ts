import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { findFreePort } from "../../shared/local/free-port";
import { ensureBuilt, makeHome, root } from "../e2e/local-process";

// Goal: an address that an earlier run left in local.settings.json is found by the words of the error.
const { home, remove } = makeHome();

beforeAll(() => {
  ensureBuilt();
  writeFileSync(join(home, "package.json"), JSON.stringify({ name: "billing", main: "index.js" }));
  writeFileSync(join(home, "host.json"), JSON.stringify({ version: "2.0" }));
}, 180_000);
afterAll(remove);

test("taskgate dev says of a database that is gone that its address stands in local.settings.json", async () => {
  const address = `postgres://dev:secret@127.0.0.1:${String(await findFreePort())}/taskgate`;
  const Values = { TASKGATE_DATABASE_URL: address };
  writeFileSync(join(home, "local.settings.json"), JSON.stringify({ Values }));
  const program = join(root, "dist", "shared", "cli", "main.js");
  const { status, stderr } = spawnSync(process.execPath, [program, "dev"], {
    cwd: home,
    encoding: "utf8",
    timeout: 60_000,
  });
  expect(status).toBe(1);
  expect(stderr).toMatch(
    /ECONNREFUSED.*\nThe address is TASKGATE_DATABASE_URL in local\.settings\.json\. Without it an embedded/,
  );
  expect(stderr).not.toContain("secret");
});
