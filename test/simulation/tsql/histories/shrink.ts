import { runCalls } from "./history";
import type { HistoryResult, OpenStores } from "./history";

/**
 * Takes calls out of a history for as long as the stores still differ: ends first, then halves, quarters, .. single calls.
 * What is left is read by people.
 */
export async function shrink(open: OpenStores, result: HistoryResult): Promise<HistoryResult> {
  let best = result;
  for (let size = Math.ceil(best.calls.length / 2); size >= 1; size = nextSize(size)) {
    for (let from = best.calls.length - size; from > -size; from -= size) {
      const calls = best.calls.filter((_, index) => index < from || index >= from + size);
      const tried = await runCalls(open, calls);
      if (tried.difference !== undefined) best = tried;
    }
  }
  return best;
}

function nextSize(size: number): number {
  return size === 1 ? 0 : Math.ceil(size / 2);
}
