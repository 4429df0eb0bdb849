/** What a text must be. */
export interface TextRule {
  /** UTF-16 units. */
  readonly min: number;
  readonly max: number;
  /** Blanks at the ends are refused. */
  readonly isKey?: boolean;
}

/** Does a text keep to the rule, and can both databases store it? */
export function isTextOf(text: string, rule: TextRule): boolean {
  if (text.length < rule.min || text.length > rule.max) return false;
  if (rule.isKey === true && text.trim() !== text) return false;
  return isStorable(text);
}

/** What a rule expects, in words. */
export function describeTextRule(rule: TextRule): string {
  const blanks = rule.isKey === true ? " without blanks at either end" : "";
  return `a text of ${String(rule.min)}..${String(rule.max)} characters${blanks}, without U+0000 and lone surrogates`;
}

/** U+0000 can't be stored in PostgreSQL, half a surrogate pair not in UTF-8. */
export function isStorable(text: string): boolean {
  return !text.includes("\0") && !/\p{Surrogate}/u.test(text);
}
