import { execFileSync, spawn, spawnSync } from "node:child_process";
import { rmSync, statSync } from "node:fs";
import { sleep } from "../../../../shared/platform/real-clock";
import { childrenOf } from "../server-cpu";
import { perfStacks } from "./perf-stacks";
import type { Stack } from "./stacks";

const samplesPerS = 499;
/** The most that perf keeps of a stack: PL/pgSQL's calls lie deep. */
const stackBytes = 65_528;
const attemptsMax = 5;

/** Why the server's stacks can't be seen here; null: they can. */
export function perfProblem(): string | null {
  const tried = spawnSync("perf", ["record", "-q", "-e", "cpu-clock", "-o", "/dev/null", "true"]);
  if (tried.error !== undefined) return "Linux's `perf` isn't installed";
  return tried.status === 0
    ? null
    : `\`perf\` is refused: ${String(tried.stderr).split("\n")[0] ?? ""}`;
}

/** Takes samples of a server's processes and of those that they start; the answer ends it and reads the stacks. */
export async function startPerf(pid: number, file: string): Promise<() => Promise<Stack[]>> {
  const recording = await startRecording(pid, file);
  return async () => {
    await recording.end();
    const words = ["script", "-i", file, "--no-inline", "-F", "ip,sym,dso"];
    const output = execFileSync("perf", words, {
      encoding: "utf8",
      maxBuffer: 2 ** 30,
      stdio: ["ignore", "pipe", "ignore"],
    });
    return perfStacks(output);
  };
}

/** Tries again: perf refuses all processes when one of them has just ended. */
async function startRecording(pid: number, file: string): Promise<{ end: () => Promise<void> }> {
  const words = ["record", "-q", "-F", String(samplesPerS), "-e", "cpu-clock", "-o", file];
  const stack = ["--call-graph", `dwarf,${stackBytes}`];
  for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
    rmSync(file, { force: true });
    const of = ["-p", [pid, ...childrenOf(pid)].join(",")];
    const child = spawn("perf", [...words, ...stack, ...of], { stdio: "ignore" });
    const ended = new Promise<void>((resolve) =>
      child.once("close", () => {
        resolve();
      }),
    );
    while (child.exitCode === null && !hasContent(file)) await sleep(20);
    if (child.exitCode !== null) continue;
    return {
      end: async () => {
        child.kill("SIGINT");
        await ended;
      },
    };
  }
  throw new Error(`\`perf record\` ended at once, ${attemptsMax} times`);
}

function hasContent(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0;
}
