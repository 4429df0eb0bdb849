import { InvalidArgumentError } from "./errors";
import { didYouMean } from "./near-name";
import { cleanText } from "./text";
import { wrongValue } from "./wrong-value";

/**
 * Refuses names that an object of options has and that mean nothing: a typo would be ignored without a word. For authors
 * without TypeScript. Throws InvalidArgumentError naming the option, where it stands, a near name, and all known ones; and for
 * a value that is no object of options.
 */
export function checkNames(where: string, options: object, known: readonly string[]): void {
  if (!isOptions(options)) throw wrongValue(where, `an object, of ${known.join(", ")}`, options);
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    const field = cleanText(name, 200);
    throw new InvalidArgumentError(
      `${field}: unknown option of ${where}.${didYouMean(name, known)} Known are ${known.join(", ")}`,
      { details: { field } },
    );
  }
}

/** Arrays, functions and texts have names of members, too. */
function isOptions(given: unknown): boolean {
  return typeof given === "object" && given !== null && !Array.isArray(given);
}
