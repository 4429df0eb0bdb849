/*
 * `npm start -- --db mssql://..` from outside: the compiled program, the unchanged driver, the shipped T-SQL, and the
 * simulated SQL Server in a process of its own. It is a model: nothing here says how a real server would do.
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { describeWhole } from "../support/whole";
import { expectDeadLetters, expectResults, expectSoundStore } from "./expect-outcome";
import { ensureBuilt, makeHome, root, runLocal } from "../e2e/local-process";

let server: ChildProcess;
let url: string;

beforeAll(async () => {
  ensureBuilt();
  const register = join(root, "test/support/register-swc.cjs");
  const program = join(__dirname, "simulated-server-process.ts");
  const child = spawn(process.execPath, ["-r", register, program], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  server = child;
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  url = String(line).trim();
}, 120_000);

afterAll(() => {
  server.kill();
});

describeWhole("the sample on T-SQL (simulated)", () => {
  const { home, remove } = makeHome();
  afterAll(remove);

  test("the sample on T-SQL runs to its end with the same results as on PostgreSQL, and a sound store", async () => {
    const end = await runLocal(home, ["--once", "--limit", "20", "--db", url]);

    expect({ code: end.code, output: end.code === 0 ? "" : end.output }).toEqual({
      code: 0,
      output: "",
    });
    expect(end.output).toContain("SQL Server");
    expect(end.output).toContain("9 dead letters (9 expected)");
    await expectResults(url);
    await expectDeadLetters(url);
    await expectSoundStore(url);
  }, 240_000);
});
