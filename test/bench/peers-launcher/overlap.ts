/** What the begins and ends of tasks say of a limit, seen from outside. */
export interface Overlap {
  /** Tasks that began while the limit was reached. */
  readonly violations: number;
  readonly atMost: number;
  /** From the end of a task to the begin of the next one on the token that was free for longest. */
  readonly idleMs: readonly number[];
}

/** All instants on one clock. An end at the same instant as a begin comes first. */
export function overlap(
  instants: { readonly begins: readonly number[]; readonly ends: readonly number[] },
  limit: number,
): Overlap {
  const begins = instants.begins.toSorted((left, right) => left - right);
  const ends = instants.ends.toSorted((left, right) => left - right);
  const freeSince: number[] = [];
  const idleMs: number[] = [];
  let running = 0;
  let atMost = 0;
  let violations = 0;
  let ended = 0;
  let taken = 0;
  for (const begin of begins) {
    for (let end = ends[ended]; end !== undefined && end <= begin; end = ends[ended]) {
      freeSince.push(end);
      running -= 1;
      ended += 1;
    }
    if (running >= limit) violations += 1;
    running += 1;
    atMost = Math.max(atMost, running);
    const since = freeSince[taken];
    if (since !== undefined) {
      idleMs.push(begin - since);
      taken += 1;
    }
  }
  return { violations, atMost, idleMs };
}
