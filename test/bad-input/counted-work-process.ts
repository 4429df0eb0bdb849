import { Session } from "node:inspector/promises";
import type { Profiler } from "node:inspector";
import { createRequire } from "node:module";
import { join } from "node:path";
import type * as worst from "./worst-inputs";

/*
 * Reads every worst input and prints how much of the product's code ran for it: the engine's own count of executed blocks, which
 * tells the same on every computer. What native code does (JSON.parse, regular expressions) isn't in it.
 */

/** One line of the output. */
export interface CountedWork {
  readonly entry: string;
  readonly title: string;
  readonly bytes: number;
  /** Blocks of functions/ and shared/ that were executed. */
  readonly steps: number;
}

const root = join(__dirname, "../..");
const isOurs = (url: string): boolean =>
  [`${root}/shared/`, `${root}/functions/`].some((folder) => url.includes(folder));

function stepsOf(scripts: readonly Profiler.ScriptCoverage[]): number {
  let steps = 0;
  for (const { url, functions } of scripts) {
    if (!isOurs(url)) continue;
    for (const { ranges } of functions) for (const { count } of ranges) steps += count;
  }
  return steps;
}

async function main(): Promise<void> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  // Before the product is loaded: code that is compiled already has no counters.
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  const path = "./worst-inputs.ts";
  const { worstInputs } = createRequire(__filename)(path) as typeof worst;
  const counted: CountedWork[] = [];
  for (const { entry, title, make, read } of worstInputs) {
    const text = make();
    await session.post("Profiler.takePreciseCoverage");
    await read(text);
    const { result } = await session.post("Profiler.takePreciseCoverage");
    counted.push({ entry, title, bytes: Buffer.byteLength(text), steps: stepsOf(result) });
  }
  process.stdout.write(JSON.stringify(counted));
}

void main().then(() => process.exit(0));
