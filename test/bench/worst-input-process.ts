import { worstInputs } from "../bad-input/worst-inputs";

/* Reads one of the worst inputs, by its place in the list, and prints the milliseconds and the bytes of memory it took. */
async function main(): Promise<void> {
  const input = worstInputs[Number(process.argv[2])];
  if (input === undefined) throw new Error("There is no such input");
  // Loads the packages of the first call.
  await input.read("{}");
  const text = input.make();
  const beforeKiB = process.resourceUsage().maxRSS;
  const startedMs = performance.now();
  await input.read(text);
  const ms = performance.now() - startedMs;
  const bytes = (process.resourceUsage().maxRSS - beforeKiB) * 1_024;
  process.stdout.write(JSON.stringify({ ms, bytes }));
}

void main().then(() => process.exit(0));
