import { parseArgs } from "node:util";
import type { ParseArgsConfig } from "node:util";
import { messageOf } from "../../shared/core/foreign-value";

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
    process.stdout.write(`${usage}\n`);
    process.exit(0);
  }
  try {
    return parseArgs(config);
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n\n${usage}\n`);
    process.exit(2);
  }
}
