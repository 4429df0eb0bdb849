import type { CaseAnswer, Ending } from "./model-case";

/** What the ends of cases look at. */

export function statusOf(answer: CaseAnswer | undefined): string {
  return String(answer?.rows[0]?.["Status"]);
}

export function numberOf(answer: CaseAnswer | undefined, column: string): number {
  return Number(answer?.rows[0]?.[column] ?? 0);
}

export function tokensOf(answer: CaseAnswer | undefined): number {
  return numberOf(answer, "Tokens");
}

/** One caller's first answer says this, the other's that. */
export function oneOf({ answers }: Ending, ...wanted: readonly string[]): string | undefined {
  const found = answers.map((own) => statusOf(own[0])).sort();
  const expected = [...wanted].sort();
  return found.join() === expected.join() ? undefined : `the answers are ${found.join(" and ")}`;
}

/** One of a caller's answers says this. */
export function saidOnce(own: readonly CaseAnswer[] = [], wanted: string): string | undefined {
  const found = own.map(statusOf);
  return found.includes(wanted) ? undefined : `the answers are ${found.join(" and ")}`;
}

/** A caller's first answer is one of these. */
export function isAny(
  answer: CaseAnswer | undefined,
  ...wanted: readonly string[]
): string | undefined {
  return wanted.includes(statusOf(answer)) ? undefined : `the answer is ${statusOf(answer)}`;
}

/** Tokens of all definitions that are held. */
export function heldTokens(end: Ending, expected: number): string | undefined {
  const held = end.rows("Token").filter(isHeld).length;
  return held === expected
    ? undefined
    : `${String(held)} tokens are held, expected ${String(expected)}`;
}

/** Tokens held in the strings of all shared limits. */
export function sharedTokens(end: Ending, expected: number): string | undefined {
  const held = end
    .rows("SharedLimit")
    .reduce((sum, row) => sum + countHeld(String(row["ExecutionTokens"])), 0);
  return held === expected
    ? undefined
    : `${String(held)} tokens of shared limits are held, expected ${String(expected)}`;
}

/** A row of Token: 0 holds the free ones. */
export function isHeld(row: Readonly<Record<string, unknown>> | undefined): boolean {
  return row !== undefined && row["HeldBy"] !== 0;
}

/** In the string of a shared limit. */
export function countHeld(tokens: string): number {
  return tokens.split("S:0").length - 1;
}

/** Tasks that an answer of Work claims, in order. */
export function claimedBy(answer: CaseAnswer | undefined): number[] {
  const list = answer?.rows[0]?.["TaskIds"];
  return typeof list === "string" ? list.split(",").map(Number) : [];
}

/** Tasks that are claimed at the end, in order of ids. */
export function claimedTasks(end: Ending): number[] {
  return taskIds(end, "Claim");
}

/** Tasks of a container, in order of ids. */
export function taskIds(end: Ending, table: string): number[] {
  return idsOf(end.rows(table));
}

function idsOf(rows: ReturnType<Ending["rows"]>): number[] {
  return rows.map((row) => Number(row["TaskId"])).sort((left, right) => left - right);
}

/** Rows of tasks that haven't ended: that of a done one stays as its payload's home. */
export function unfinished(end: Ending): ReturnType<Ending["rows"]> {
  const ended = new Set(taskIds(end, "Archive"));
  return end.rows("Task").filter((row) => !ended.has(Number(row["TaskId"])));
}

/** Their ids, in order. */
export function unfinishedIds(end: Ending): number[] {
  return idsOf(unfinished(end));
}

export function expectTasks(
  found: readonly number[],
  ...wanted: readonly number[]
): string | undefined {
  return found.join() === wanted.join()
    ? undefined
    : `tasks are ${found.join(", ") || "none"}, expected ${wanted.join(", ") || "none"}`;
}

/** The first thing that isn't as expected. */
export function allOf(...problems: readonly (string | undefined)[]): string | undefined {
  return problems.find((problem) => problem !== undefined);
}
