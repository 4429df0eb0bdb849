/*
 * An app without the sample: a copy of this one from which functions/tasks/flights and its lines are gone, with a task of its
 * own in their place, as a newcomer makes it. Built and run by what `npm start` runs.
 */
import { execFile } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { sleep } from "../../shared/platform/real-clock";
import { makeHome, root, startLocal } from "./local-process";

const app = mkdtempSync(join(tmpdir(), "taskgate-own-app-"));
const { home, remove } = makeHome();
const run = promisify(execFile);

const table = `
import { defineTask } from "../../shared/worker/define-task";
import type { EventRoute } from "../ingest-event";

export const tasks = [
  defineTask<{ name: string }>({
    name: "greet",
    limit: 2,
    run: async ({ name }) => ({ text: \`Hello \${name}\` }),
  }),
] as const;
export const eventRoutes: readonly EventRoute[] = [];
export const resultTables = null;
`;

beforeAll(() => {
  for (const name of ["functions", "shared", "tsconfig.json", "host.json"])
    cpSync(join(root, name), join(app, name), { recursive: true });
  mkdirSync(join(app, ".ci"));
  for (const name of ["start.cjs", "copy-assets.cjs"])
    cpSync(join(root, ".ci", name), join(app, ".ci", name));
  symlinkSync(join(root, "node_modules"), join(app, "node_modules"));
  rmSync(join(app, "functions", "tasks", "flights"), { recursive: true });
  writeFileSync(join(app, "functions", "tasks", "index.ts"), table);
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as object;
  writeFileSync(join(app, "package.json"), JSON.stringify({ ...manifest, taskgate: undefined }));
  // What an earlier build has left of the sample.
  const stale = join(app, "dist", "functions", "tasks", "flights");
  mkdirSync(stale, { recursive: true });
  writeFileSync(join(stale, "local-sample.js"), "throw new Error('stale');");
});

afterAll(() => {
  remove();
  rmSync(app, { recursive: true, force: true });
});

/** As `npx taskgate` beside the run; repeated while a worker hasn't registered the definition yet. */
async function taskgate(...args: string[]): Promise<string> {
  const program = join(app, "dist", "shared", "cli", "main.js");
  const options = { cwd: home, env: { PATH: process.env["PATH"] } };
  for (let tries = 1; ; tries += 1) {
    try {
      return (await run(process.execPath, [program, ...args], options)).stdout;
    } catch (error) {
      if (tries === 20) throw error;
      await sleep(1_000);
    }
  }
}

test("an app without the sample says each step of its start, runs its own tasks and follows them until it is ended", async () => {
  const startedAtMs = performance.now();
  const local = await startLocal(home, [], join(app, ".ci", "start.cjs"));
  try {
    await local.until(/^Building the app \.\./);
    const tookMs = performance.now() - startedAtMs;
    const isBusy = (loadavg()[0] ?? 0) > 4 + availableParallelism();
    if (!isBusy) expect(tookMs).toBeLessThan(1_000);
    await local.until(/Starting a worker \.\.\n[^]*Taskgate runs on this machine/, 120_000);
    expect(existsSync(join(app, "dist", "functions", "tasks", "flights", "local-sample.js"))).toBe(
      false,
    );
    expect(local.output()).not.toContain("landing");
    await local.until(/no tasks yet/);

    expect(await taskgate("enqueue", "greet", "--payload", '{"name":"Ada"}')).toContain(
      "was added to greet",
    );
    await local.until(/100%\s+1 of 1 tasks/);
    expect(await taskgate("tasks", "greet", "--state", "done")).toContain("greet");
  } finally {
    local.signal("SIGINT");
  }
  expect((await local.exited).code).toBe(0);
}, 240_000);
