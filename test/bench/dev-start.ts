import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startDevIn, untilIn } from "../package/dev-process";
import type { Measurement } from "./measurement";

const root = join(__dirname, "../..");

/** How soon `taskgate dev` shows its first picture in an app that is built: with a database to be made, and with one that is there. */
export async function devStart(): Promise<Measurement[]> {
  const app = mkdtempSync(join(tmpdir(), "taskgate-dev-start-"));
  symlinkSync(join(root, "node_modules"), join(app, "node_modules"), "dir");
  const door = (path: string): string => JSON.stringify(join(root, "dist/shared", path));
  const files = {
    "package.json": JSON.stringify({ name: "greeter", main: "index.js" }),
    "host.json": JSON.stringify({ version: "2.0" }),
    "index.js": `
      const { app } = require("@azure/functions");
      const { defineTask } = require(${door("index.js")});
      const { taskgate } = require(${door("functions/index.js")});
      const greet = defineTask({ name: "greet", run: async () => ({}) });
      taskgate({ tasks: [greet] }).register(app);`,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(app, name), text);
  const first = await pictureMs(app);
  const later = await pictureMs(app);
  rmSync(app, { recursive: true, force: true });
  return [
    seconds("taskgate dev, first run, which makes its database: to the first picture", first, null),
    seconds("taskgate dev, a later run: to the first picture", later, 2),
  ];
}

async function pictureMs(app: string): Promise<number> {
  const startedMs = performance.now();
  const run = await startDevIn({ app, program: join(root, "dist/shared/cli/main.js") });
  await untilIn(run, () => /log {10}/.test(run.output()), "the first picture");
  const tookMs = performance.now() - startedMs;
  run.child.kill("SIGTERM");
  await run.exitCode;
  return tookMs;
}

function seconds(scenario: string, tookMs: number, goal: number | null): Measurement {
  return { scenario, unit: "s", value: tookMs / 1_000, goal, isLessBetter: true };
}
