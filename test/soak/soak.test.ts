/*
 * A soak of some seconds with real processes: it is killed, goes on with the same folder, and is judged. Longer ones are
 * `npm run soak` (docs/benchmarks/README.md).
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { describeWhole } from "../support/whole";
import type { RunState } from "./run-folder";
import type { Sample } from "./sample";

const folder = mkdtempSync(join(tmpdir(), "taskgate-soak-test-"));
const report = join(folder, "report");
let child: ChildProcess | undefined;

afterAll(() => {
  // It takes its workers and its server along.
  if (child?.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });
});

function startSoak(): { said: () => string; exited: Promise<number | null> } {
  const register = join(__dirname, "../support/register-swc.cjs");
  const words = ["--minutes", "0.3", "--rate", "60", "--workers", "3", "--sample", "1"];
  const places = ["--folder", join(folder, "run"), "--report", report];
  const program = join(__dirname, "soak-process.ts");
  const started = spawn(process.execPath, ["-r", register, program, ...words, ...places], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  child = started;
  let said = "";
  for (const stream of [started.stdout, started.stderr])
    stream.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const exited = new Promise<number | null>((resolve) => started.once("exit", resolve));
  return { said: () => said, exited };
}

function readSamples(): Sample[] {
  const file = join(folder, "run/samples.jsonl");
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.filter((line) => line.endsWith("}")).map((line) => JSON.parse(line) as Sample);
}

function readLedger(): string {
  const ledger = join(folder, "run/ledger");
  if (!existsSync(ledger)) return "";
  const slices = readdirSync(ledger).map((slice) => join(ledger, slice, "soak.txt"));
  return slices.map((file) => (existsSync(file) ? readFileSync(file, "utf8") : "")).join("");
}

describeWhole("a soak of some seconds", () => {
  test("a soak that is killed goes on with its folder and finds nothing broken", async () => {
    const first = startSoak();
    while (!readLedger().includes("\nended ") && child?.exitCode === null)
      await new Promise((resolve) => setTimeout(resolve, 100));
    child?.kill("SIGKILL");
    await first.exited;
    const second = startSoak();
    expect({ code: await second.exited, said: second.said() }).toEqual({
      code: 0,
      said: expect.stringContaining("good: ledger: no violation"),
    });
    const text = readFileSync(join(report, "soak.md"), "utf8");
    expect(text).toContain("in 2 legs (1 of them ended by a kill)");
    expect(text).toMatch(/\| database +\| good +\|/u);
    for (const name of ["memory", "sizes", "rows", "latency", "claim"])
      expect(readFileSync(join(report, `soak-${name}.svg`), "utf8")).toContain("</svg>");
    // Something happened, and was measured.
    const state = JSON.parse(readFileSync(join(folder, "run/state.json"), "utf8")) as RunState;
    expect(state).toMatchObject({ isDrained: true, legs: [{}, { isStopped: true }] });
    const samples = readSamples();
    expect(samples.some(({ leg }) => leg === 2)).toBe(true);
    expect(samples.some(({ claim }) => claim !== null && claim.blocksPerCall > 1)).toBe(true);
    expect(samples.at(-1)?.counts.begun).toBeGreaterThan(50);
  }, 110_000);
});
