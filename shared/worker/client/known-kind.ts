import { InvalidArgumentError } from "../../core/errors";
import { shownText } from "../../core/foreign-value";
import { nearNames } from "../../core/near-name";
import { cleanText } from "../../core/text";
import type { Registry } from "../define/registry";

/** Kinds that a refusal lists; the others are counted. */
const listedMax = 10;

/** The kind that is asked for. */
interface KindPlace {
  readonly definition: string;
  readonly kind: string;
  /** What the caller may give to have the kind all the same; absent: it has no such option. */
  readonly option?: string;
}

/**
 * Refuses a kind that is named by its text and that this build doesn't have, in a definition that it does have: a typo would
 * otherwise be found by workers only, try by try. Throws InvalidArgumentError naming the field, the kind and near ones. A definition
 * with `onUnknownKind: "keep"` takes any, for kinds of other code; nothing is said of definitions that this build doesn't have.
 */
export function checkKnownKind(registry: Registry, { definition, kind, option }: KindPlace): void {
  const found = registry.definition(definition);
  if (found?.kinds === undefined || found.onUnknownKind === "keep") return;
  // One of another definition would run under the limit of this one.
  if (registry.kind(kind)?.definition.name === definition) return;
  const names = found.kinds.map((rules) => rules.kind);
  const near = nearNames(kind, names, 1)[0];
  const more = names.length - listedMax;
  const list = `${names.slice(0, listedMax).join(", ")}${more > 0 ? ` and ${String(more)} more` : ""}`;
  const field = "kind";
  const known = `one of definition ${definition}'s kinds, which are ${list}`;
  const advice = `${near === undefined ? "" : ` Did you mean ${near}?`} For a kind of other code: ${option === undefined ? "" : `${option}, or `}onUnknownKind: "keep" in the definition`;
  const problem = { field, value: shownText(kind), expected: `${known}.${advice}` };
  throw new InvalidArgumentError(`kind: expected ${known} (${cleanText(kind, 220)}).${advice}`, {
    details: { field, problems: [problem] },
  });
}
