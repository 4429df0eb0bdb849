import { execFile } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { startAzurite } from "../../shared/local/azurite";
import type { Azurite } from "../../shared/local/azurite";
import type { HostChild } from "../../shared/local/host-children";
import { urlAs } from "../support/roles";
import { setupApi } from "./api-setup";
import type { ApiSetup } from "./api-setup";
import { moreTasks, root, startApp } from "./built-app";

/*
 * Goal: the built program works with the built app, which runs in a host of its own, by its address alone. Method: no table knows a
 * definition before; the app's code registers `weigh` when it is first named, and judges payloads and handlers.
 */
let azurite: Azurite;
let api: ApiSetup;
let host: HostChild;

beforeAll(async () => {
  [azurite, api] = await Promise.all([startAzurite(), setupApi()]);
  host = await startApp(
    {
      TASKGATE_DATABASE_URL: urlAs(api.ownerUrl, "app"),
      AzureWebJobsStorage: azurite.connectionString,
      NODE_OPTIONS: moreTasks,
      // Variables of a command line that someone has set for the app, too.
      TASKGATE_URL: "https://app.example",
      TASKGATE_TOKEN: "t",
    },
    () => undefined,
  );
}, 180_000);
afterAll(async () => {
  await host.stop();
  await azurite.stop();
  await api.close();
});

/** The program with `--url`; nothing of the test's environment but the path reaches it. */
function taskgate(
  ...words: readonly string[]
): Promise<{ code: number; out: string; error: string }> {
  const program = join(root, "dist/shared/cli/main.js");
  const { PATH, HOME } = process.env;
  return new Promise((resolve) => {
    const all = [program, ...words, "--url", host.url];
    execFile(process.execPath, all, { env: { PATH, HOME } }, (failure, out, error) => {
      const code = failure === null ? 0 : Number(failure.code);
      resolve({ code, out, error });
    });
  });
}

describe("the program and an app that runs elsewhere", () => {
  test("the program and an app register a definition at its first call, run the added task, and tell its end", async () => {
    const added = await taskgate("enqueue", "weigh", "--payload", '{"kilos":3}', "--json");
    expect(added).toMatchObject({ code: 0, error: "" });
    const [{ task = "" } = {}] = (JSON.parse(added.out) as { tasks: { task?: string }[] }).tasks;
    let out = "";
    for (let tries = 0; tries < 60 && !out.includes(" is dead"); tries += 1)
      ({ out } = await taskgate("explain", task));
    expect(out).toContain(`Task ${task} (\`weigh\`) is dead`);
    expect((await taskgate("status")).out).toContain(
      `postgres database of the app at ${host.url}/api (--url)`,
    );
  }, 120_000);

  test("the program and the app refuse payloads and handlers that the code of the app refuses", async () => {
    const payload = await taskgate("enqueue", "weigh", "--payload", '{"kilos":"x"}');
    expect(payload).toMatchObject({ code: 2, out: "", error: expect.stringContaining("kilos") });
    const kind = await taskgate("enqueue", "weigh", "--kind", "weighs");
    expect(kind.code).toBe(2);
    expect(kind.error).toMatch(/kind.*weighs.*weigh/);
  }, 60_000);

  test("the program and an app change a setting, of which the audit tells the caller", async () => {
    const changed = await taskgate("limit", "weigh", "1", "--reason", "the partner is slow");
    expect(changed).toMatchObject({ code: 0, out: expect.stringContaining("is 1, it was 2.") });
    const { out } = await taskgate("audit", "weigh", "-n", "1");
    expect(out).toMatch(
      / http +set_limit +weigh +limit_override as in code -> 1 +the partner is slow/,
    );
  }, 60_000);
});
