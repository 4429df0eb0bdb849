import { InvalidArgumentError } from "./errors";
import { didYouMean } from "./near-name";
import { cleanText } from "./text";

/**
 * Refuses names that an object of options has and that mean nothing: a typo would be ignored without a word. For authors
 * without TypeScript. Throws InvalidArgumentError naming the option, where it stands, a near name, and all known ones.
 */
export function checkNames(where: string, options: object, known: readonly string[]): void {
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    const field = cleanText(name, 200);
    throw new InvalidArgumentError(
      `${field}: unknown option of ${where}.${didYouMean(name, known)} Known are ${known.join(", ")}`,
      { details: { field } },
    );
  }
}
