import { parseArgs } from "node:util";
import type { ParseArgsConfig } from "node:util";
import { messageOf } from "../../shared/core/foreign-value";
import { nearName } from "../../shared/core/near-name";

/**
 * What `parse` makes of the words behind `npm run NAME --`. `--help` prints how they may be, and ends with 0. Words that can't be read
 * are told in a line with that text behind it, and end the process with 2.
 */
export function readOptions<Options>(
  usage: string,
  parse: (words: readonly string[]) => Options,
): Options {
  const words = process.argv.slice(2);
  if (words.includes("--help") || words.includes("-h")) {
    process.stdout.write(`${usage}\n`);
    process.exit(0);
  }
  try {
    return parse(words);
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n\n${usage}\n`);
    process.exit(2);
  }
}

/** The same by Node's own parser. */
export function readWords<const Config extends ParseArgsConfig>(
  usage: string,
  config: Config,
): ReturnType<typeof parseArgs<Config>> {
  return readOptions(usage, () => parseArgs(config));
}

/** The names of a list with commas. Throws an Error that names the option, the unknown name and the near one. */
export function readNames<Name extends string>(
  text: string,
  { option, what, names }: { option: string; what: string; names: readonly Name[] },
): Name[] {
  return text.split(",").map((word) => {
    const known = names.find((name) => name === word);
    if (known !== undefined) return known;
    const near = nearName(word, names);
    const hint = near === null ? "" : ` Did you mean ${near}?`;
    throw new Error(
      `${option}: expected names of ${what}, got \`${word}\`.${hint} There are ${names.join(", ")}`,
    );
  });
}
