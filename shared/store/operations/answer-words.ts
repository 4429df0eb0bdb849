/*
 * Words of the JSON that procedures make, where the code has another one: a task ends, and columns say "finished". Builds of
 * before read that JSON beside this one, so it keeps its words. Each is replaced here, for both dialects.
 */

const words: Readonly<Record<string, string>> = {
  finishedAt: "endedAt",
  finished: "ended",
  lastError: "error",
  cancelRequested: "isCancelRequested",
};

/** An entry of a procedure's JSON in the words of the code, its members in their order. */
export function withAnswerWords<Entry extends object>(stored: object): Entry {
  const members = Object.entries<unknown>({ ...stored });
  return Object.fromEntries(
    members.map(([name, value]) => [words[name] ?? name, value]),
  ) as object as Entry;
}
