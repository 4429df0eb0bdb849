import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The tables and statements of the source texts, as files. */
export function textSql(name: string): string {
  return readFileSync(join(__dirname, "sql", `${name}.sql`), "utf8");
}

/** One edit of a text: the replaced part must be there. */
export interface Edit {
  readonly from: string;
  readonly to: string;
}

/** A text with edits; one that no longer fits is a fault of the test. */
export function edited(text: string, ...edits: readonly Edit[]): string {
  return edits.reduce((before, { from, to }) => {
    if (!before.includes(from)) throw new Error(`The text has no "${from}" to be edited`);
    return before.replaceAll(from, to);
  }, text);
}

/**
 * The words of source text 002 in the forms that the project's parser takes: it wants AS before an alias and parentheses
 * around TOP's number, since the shipped text is written so. Nothing else differs.
 */
export function inHouseForm(text: string): string {
  return text.replace(/\btop 1\b/g, "top (1)").replace(/\bsys_QueueJob x\b/g, "sys_QueueJob AS x");
}
