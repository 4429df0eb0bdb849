import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { worstInputs } from "../bad-input/worst-inputs";
import type { Measurement } from "./measurement";

const root = join(__dirname, "../..");
const run = promisify(execFile);

/** The longest bodies and the most expensive name, each read by a process of its own: the time of the worst. */
export async function worstInput(): Promise<Measurement[]> {
  const found: { title: string; ms: number; bytes: number }[] = [];
  for (const [index, { entry, title }] of worstInputs.entries()) {
    if (entry !== "api-enqueue" && entry !== "near names") continue;
    const program = join(__dirname, "worst-input-process.ts");
    const words = ["-r", "./test/support/register-swc.cjs", program, String(index)];
    const { stdout } = await run(process.execPath, words, { cwd: root });
    found.push({ title, ...(JSON.parse(stdout) as { ms: number; bytes: number }) });
  }
  const by = (name: "ms" | "bytes") =>
    found.reduce((left, right) => (right[name] > left[name] ? right : left));
  const slowest = by("ms");
  const largest = by("bytes");
  return [
    {
      scenario: `worst input, time (${slowest.title})`,
      unit: "ms",
      value: slowest.ms,
      isLessBetter: true,
      goal: 200,
    },
    {
      scenario: `worst input, memory (${largest.title})`,
      unit: "MiB",
      value: largest.bytes / 1_048_576,
      isLessBetter: true,
      goal: 64,
    },
  ];
}
