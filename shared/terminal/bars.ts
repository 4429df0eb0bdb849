/** Bars of characters that every terminal has. Pure. */

/** Cells of a bar of tokens: beyond it one cell stands for several. */
const cellsMax = 20;

/**
 * `####....  4/8`: tokens held of the limit; a bar of 20 cells stands for larger limits. No limit: `####  4`. `others`: tokens of a
 * shared limit that others hold, `##++  2/4`.
 */
export function tokenBar(held: number, limit: number | null, others = 0): string {
  if (limit === null)
    return `${"#".repeat(Math.min(held, cellsMax))}  ${String(held)}, no limit`.trim();
  const drawn = Math.max(limit, held + others);
  const cells = Math.min(drawn, cellsMax);
  const scale = drawn > cellsMax ? cellsMax / drawn : 1;
  // One held token is always seen.
  const full = held === 0 ? 0 : Math.max(1, Math.round(held * scale));
  const taken = Math.min(Math.round(others * scale), cells - full);
  const free = ".".repeat(Math.max(0, cells - full - taken));
  return `${"#".repeat(full)}${"+".repeat(taken)}${free}  ${String(held)}/${String(limit)}`.trim();
}

/** `[#####-----]  42 %`, as lines of progress have it. */
export function shareBar(share: number): string {
  return `${progressBar(share, 26)} ${`${String(Math.floor(share * 100))} %`.padStart(5)}`;
}

/** `[#####-----]` of exactly `width` characters, at least 3; `share` is cut to 0..1. */
export function progressBar(share: number, width: number): string {
  const cells = Math.max(1, width - 2);
  const full = Math.round(Math.min(1, Math.max(0, share)) * cells);
  return `[${"#".repeat(full)}${"-".repeat(cells - full)}]`;
}
