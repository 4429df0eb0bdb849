import {
  adjectives,
  behindNouns,
  counters,
  determiners,
  either,
  homonyms,
  introductions,
  nouns,
  operations,
  participles,
  plurals,
  pronouns,
  verbs,
} from "./title-words";

/*
 * A title of a test is a whole sentence: its subject is a technical noun (the operation, the command, the page), and it
 * has a verb. A report of failures then says by its titles alone what doesn't hold, without the names of the groups.
 */

/** What is wrong with a title. */
export type TitleFault = "code" | "long" | "opening" | "verb";

const wordsMax = 25;

/** What the rule finds in a title. What a row fills in (`%s`, `$name`, `X` for an expression) is a word as others. */
export function faultOf(title: string): TitleFault | undefined {
  if (/^[A-Z]\d+\.\d+\b/.test(title)) return "code";
  // The numbers of behaviours stand at the end, before what a skipped test says.
  const sentence = title.replace(/ \(S\d\.\d+[^()]*\)$/, "").split(/\s+/);
  if (sentence.length > wordsMax) return "long";
  if (!isOpening(sentence)) return "opening";
  const colon = sentence.findIndex((word) => word.endsWith(":"));
  return hasVerb(sentence.slice(0, colon < 0 ? undefined : colon + 1)) ? undefined : "verb";
}

const bare = (word: string): string => word.replace(/^[("']+|[)"',:;.]+$/g, "").toLowerCase();

/** A name of a function or a type, a file, an option, or what a row fills in. */
const isName = (word: string): boolean => /[a-z][A-Z]|[_.`$%]\w|^--\w|^X|^[A-Z]{3,}/.test(word);

/** Whether a subject begins here, or an introduction that a comma ends, and a subject behind it. */
function isOpening(words: readonly string[]): boolean {
  if (isName(words[0] ?? "")) return true;
  const [first = "", second = "", third = ""] = words.map(bare);
  if (introductions.has(first)) {
    const end = words.findIndex((word) => word.endsWith(","));
    return end >= 0 && isOpening(words.slice(end + 1));
  }
  if (operations.has(first)) return true;
  if (isQuality(first)) return isQualified(words.map(bare));
  if (pronouns.has(first) || verbs.has(first)) return false;
  if (!counters.has(first)) return isNoun(first, second);
  if (second === "of" || isQuality(second) || homonyms.has(second)) return true;
  return (plurals.has(first) && second.endsWith("s")) || isNoun(second, third) || first === "no";
}

const isQuality = (word: string): boolean => participles.has(word) || adjectives.has(word);

/** `dead and cancelled tasks`, not `dead at once`. */
function isQualified(words: readonly string[]): boolean {
  const start = words.findIndex((word) => !isQuality(word) && word !== "and");
  const noun = words[start] ?? "";
  return noun.endsWith("s") && isNoun(noun, words[start + 1] ?? "");
}

function isNoun(word: string, next: string): boolean {
  if (either.has(word)) return behindNouns.has(next) || verbs.has(next);
  if (pronouns.has(word) || verbs.has(word) || introductions.has(word)) return false;
  return nouns.has(word) || !isThirdPerson(word);
}

const isThirdPerson = (word: string): boolean => /^[a-z-]+(?<!s|u)s$/.test(word);

function hasVerb(words: readonly string[]): boolean {
  return words
    .map(bare)
    .some((word, index, all) => index > 0 && isVerb(word, all[index - 1] ?? ""));
}

/** `end` in "by their end" is a noun. */
function isVerb(word: string, before: string): boolean {
  if (homonyms.has(word) || either.has(word))
    return !determiners.has(before) && !/'s?$/.test(before);
  return verbs.has(word) || (isThirdPerson(word) && !nouns.has(word));
}
