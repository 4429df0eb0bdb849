/** An instant as answers show it. */
export function iso(atMs: number): string {
  return new Date(atMs).toISOString();
}

/** The same; null: there is none. */
export function isoOrNull(atMs: number | null): string | null {
  return atMs === null ? null : iso(atMs);
}
