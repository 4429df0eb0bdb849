import type { HttpRequest } from "@azure/functions";
import { invalidInput, showValue } from "../../admin/read-result";
import type { Tagged } from "./settings-tag";

/** The header If-Match (RFC 9110, 13.1.1): a change is made only if the settings are still those that the caller has read. */

/** A condition on the settings; any: there must be some. */
export type Condition = "any" | readonly string[];

/** An entity tag and what separates it from the next one. */
const entityTag = /[ \t]*((?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")[ \t]*(?:,|$)/y;

/** The condition of a request; null: none. Throws InvalidArgumentError for a header that can't be read. */
export function conditionOf({ headers }: HttpRequest): Condition | null {
  const header = headers.get("if-match");
  if (header === null) return null;
  if (header.trim() === "*") return "any";
  const tags: string[] = [];
  entityTag.lastIndex = 0;
  for (let at = 0; at < header.length; at = entityTag.lastIndex) {
    const found = entityTag.exec(header);
    if (found?.[1] === undefined) throw unreadable(header);
    tags.push(found[1]);
  }
  if (tags.length === 0) throw unreadable(header);
  return tags;
}

/** Do the settings meet the condition? null: there are none. */
export function isMet(condition: Condition, current: Tagged | null): boolean {
  // The comparison is the strong one: a weak tag meets no settings.
  return current !== null && (condition === "any" || condition.includes(current.tag));
}

/** A condition as its header has it. */
export function conditionText(condition: Condition): string {
  return condition === "any" ? "*" : condition.join(", ");
}

function unreadable(header: string) {
  const expected = 'the ETag of a GET with its quotes, such as "tag", or * for any';
  return invalidInput([{ field: "If-Match", value: showValue(header), expected }]);
}
