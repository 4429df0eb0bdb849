/** For how long the oldest ready task has been due, ms, by the database's clock; 0: none is ready. */
export function oldestAgeMs({
  now,
  oldestReady,
}: {
  readonly now: Date;
  readonly oldestReady: { readonly dueAt: string } | null;
}): number {
  return oldestReady === null ? 0 : Math.max(now.getTime() - Date.parse(oldestReady.dueAt), 0);
}
