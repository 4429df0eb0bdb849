import { StoreContractError } from "../core/errors";
import { isObject } from "../core/foreign-value";

/** Parts of an app's answers, as the admin has them. What an answer holds beside its known members is the app's word: it isn't checked again. */

/**
 * The object that an app answered, as the admin's answer of that call. Throws StoreContractError where it lacks `member`, by which it
 * is told from what other programs answer: an address that answers everything with 200 has done nothing.
 */
export function objectOf<Shown extends object>(answer: unknown, member: string): Shown {
  if (member in membersOf(answer)) return answer as Shown;
  throw otherVersion(`\`${member}\``);
}

/** The list that an answer has as this member. Throws StoreContractError where it has none. */
export function rowsOf<Row extends object>(answer: unknown, member: string): Row[] {
  const rows = membersOf(answer)[member];
  if (Array.isArray(rows)) return rows as Row[];
  throw otherVersion(`the list \`${member}\``);
}

function membersOf(answer: unknown): Readonly<Record<string, unknown>> {
  if (isObject(answer)) return answer;
  throw otherVersion("an object");
}

/** The same without members that only HTTP has. */
export function without<Part extends object, Name extends string>(
  part: Part,
  ...names: readonly Name[]
): Omit<Part, Name> {
  const members = Object.entries(part).filter(
    ([name]) => !(names as readonly string[]).includes(name),
  );
  return Object.fromEntries(members) as Omit<Part, Name>;
}

/** The error about an answer that isn't what this version of an app gives. */
export function otherVersion(expected: string): StoreContractError {
  return new StoreContractError(
    `The app's answer lacks ${expected}: it has another version than this command line, or it is no app of Taskgate. Use the version that the app has`,
  );
}
