/*
 * Half a minute of `npm run chaos`, a minute at night, with a fixed seed: real hosts that are killed, frozen and replaced by other builds, a
 * network that cuts, stalls and half-opens, a database that is killed, wrong clocks, changed limits, doubled and late hints.
 * That the ledger finds faults is shown by `npm run chaos -- --plant all` (docs/internals/chaos.md).
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { isWhole } from "../support/whole";

let child: ChildProcess | undefined;
afterAll(() => {
  // It takes its hosts and its server along.
  if (child?.exitCode === null) child.kill("SIGTERM");
});

test("a run of kills, freezes, a bad network and a killed database breaks none of the twelve promises", async () => {
  const register = join(__dirname, "../support/register-swc.cjs");
  const program = join(__dirname, "chaos-process.ts");
  const words = [
    "--minutes",
    isWhole ? "1" : "0.5",
    "--seed",
    "15",
    "--hosts",
    "3",
    "--without",
    "disk",
  ];
  const started = spawn(process.execPath, ["-r", register, program, ...words], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  child = started;
  let said = "";
  for (const stream of [started.stdout, started.stderr])
    stream.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const code = await new Promise((resolve) => started.once("exit", resolve));
  expect({ code, said }).toEqual({ code: 0, said: expect.stringContaining("nothing broken") });
  // Something happened.
  expect(Number(/(\d+) begins on/u.exec(said)?.[1])).toBeGreaterThan(50);
}, 600_000);
