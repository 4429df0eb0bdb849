import type { ForcedPath } from "../../tsql-server/engine/options";

/** An access of a shipped text, and another way to its rows than the model's rule takes. */
export interface OtherPlan {
  /** As `accessName` in table-scan.ts. */
  readonly access: string;
  readonly path: ForcedPath;
}

const endToEnd = " from end to end";

/** For names of variants: `Taskgate.Work:240 r by PK_Ready from end to end`. */
export function describePlan({ access, path }: OtherPlan): string {
  return `${access} by ${path.index}${path.isScan ? endToEnd : ""}`;
}

/** Reads what describePlan has written. */
export function parsePlan(text: string): OtherPlan | undefined {
  const match = /^(\S+:\d+ \S+) by (\S+)( from end to end)?$/.exec(text);
  const [, access, index, scan] = match ?? [];
  if (access === undefined || index === undefined) return undefined;
  return { access, path: { index, isScan: scan !== undefined } };
}
