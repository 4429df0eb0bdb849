/*
 * The start and the end of `npm start` from outside: the compiled program as a child process, judged by its exit code and its
 * output. No run begins a sample, so an app without one passes these tests, too.
 */
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import type { Server } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { ensureBuilt, makeHome, root, runLocal, startLocal } from "./local-process";

beforeAll(ensureBuilt, 120_000);

async function listenAnywhere(): Promise<{ server: Server; port: number }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return { server, port: typeof address === "object" && address !== null ? address.port : 0 };
}

describe("the end by Ctrl-C", () => {
  const { home, remove } = makeHome();
  afterAll(remove);
  const plain = ["--no-sample", "--hosts", "0"];

  test("a run that Ctrl-C ends exits with 130 during the start and at a second Ctrl-C, else with 0", async () => {
    const early = await startLocal(home, plain);
    await early.until(/Starting PostgreSQL/);
    early.signal("SIGINT");
    expect((await early.exited).code).toBe(130);

    // Without hosts the port of another program, such as `func start`, doesn't matter.
    const other = await listenAnywhere();
    const run = await startLocal(home, [...plain, "--port", String(other.port)]);
    await run.until(/no tasks yet/);
    run.signal("SIGINT");
    expect((await run.exited).code).toBe(0);
    other.server.close();

    const twice = await startLocal(home, plain);
    await twice.until(/no tasks yet/);
    // An end that isn't held back may be over before the second one comes.
    process.kill(postmasterOf(home), "SIGSTOP");
    twice.signal("SIGINT");
    await twice.until(/Ending:/);
    twice.signal("SIGINT");
    expect((await twice.exited).code).toBe(130);
  });
});

describe("a start that can't be", () => {
  const { home, remove } = makeHome();
  afterAll(remove);

  test("a port in use is said in a sentence, with what to do", async () => {
    const { server, port } = await listenAnywhere();
    const end = await runLocal(home, ["--port", String(port)]);
    const asJson = await runLocal(home, ["--port", String(port), "--json"]);
    server.close();

    expect(end.code).toBe(1);
    expect(end.output).toMatch(
      /^Port \d+ on 127\.0\.0\.1 is in use by another program\. .*--port \d+\n$/,
    );
    expect(asJson.code).toBe(1);
    expect(JSON.parse(asJson.output)).toEqual({
      error: { code: null, message: end.output.trim() },
    });
  });

  test("a home that can't be made is said at once", async () => {
    const nowhere = process.platform === "linux" ? "/proc/nope" : join(root, "package.json");
    const end = await runLocal(home, ["--home", nowhere]);

    expect(end.code).toBe(1);
    expect(end.output).toMatch(
      /^The folder \S+ can't be used: .*\. Choose another folder with --home\.\n$/,
    );
    expect(end.tookMs).toBeLessThan(10_000);
  });

  test("an unknown option names the near one and ends with 2", async () => {
    const end = await runLocal(home, ["--onec"]);

    expect(end.code).toBe(2);
    expect(end.output).toContain(
      "option: got `--onec`, expected an option of `dev`. Did you mean `--once`?",
    );
  });

  test("a database that can't be reached is said in a sentence, without its password", async () => {
    const end = await runLocal(home, ["--db", "postgres://someone:hush@127.0.0.1:1/nowhere"]);

    expect(end.code).toBe(1);
    expect(end.output).not.toContain("hush");
    expect(end.output.trim().split("\n")).toEqual([
      "Migrating the schema ..",
      expect.stringContaining("127.0.0.1"),
    ]);
  });
});

/** The embedded server's process. */
function postmasterOf(home: string): number {
  const file = join(home, ".taskgate", "postgres", "postmaster.pid");
  return Number.parseInt(readFileSync(file, "utf8"), 10);
}
