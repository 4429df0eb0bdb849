/** Are two values of plain data equal? Whatever the order of keys, and whichever realm their arrays come from. */
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
