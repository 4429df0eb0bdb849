import { parseArgs } from "node:util";
import type { ParseArgsConfig } from "node:util";

/**
 * The words behind `npm run NAME --`. `--help` prints how they may be, and ends with 0. Words that can't be read are told in a line
 * with that text behind it, and end the process with 2.
 */
export function readWords<const Config extends ParseArgsConfig>(
  usage: string,
  config: Config,
): ReturnType<typeof parseArgs<Config>> {
  const words = process.argv.slice(2);
  if (words.includes("--help") || words.includes("-h")) {
    console.log(usage);
    process.exit(0);
  }
  try {
    return parseArgs(config);
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    process.exit(2);
  }
}
