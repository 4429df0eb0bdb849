/*
 * Words of the JSON that procedures make, where the code has another one. A task ends; columns, and the JSON that is made of them,
 * say "finished". Builds of before read that JSON beside this one, so it keeps its words. Each is replaced here, for both dialects.
 */

const words: Readonly<Record<string, string>> = { finishedAt: "endedAt", finished: "ended" };

/** An entry of a procedure's JSON in the words of the code, its members in their order. */
export function withAnswerWords<Entry extends object>(stored: object): Entry {
  const members = Object.entries<unknown>({ ...stored });
  return Object.fromEntries(
    members.map(([name, value]) => [words[name] ?? name, value]),
  ) as object as Entry;
}
