/** Are two values of plain data equal? In any order of keys, for arrays of any realm. */
export function isSame(left: unknown, right: unknown): boolean {
  return canonicalText(left) === canonicalText(right);
}

/** Equal values have equal texts. */
export function canonicalText(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : Number(a > b))))
      : inner,
  );
}
