import { besideHolderMs } from "../../shared/core/rate";
import type { WorkAnswer, WorkInput } from "../../shared/ports/task-store";
import { rateOf } from "../../shared/testing/memory-store/rates";
import type { Chance } from "./chance";
import type { Tamper } from "./database";

/** How long a call keeps the row of the rate that it counts by: until its commit. */
export interface HeldBucket {
  readonly heldMs: number;
  readonly chance: Chance;
}

/**
 * The row lock that the memory store doesn't have: a claim that counts by a rate keeps the rate's row for a while, and one that
 * comes meanwhile steps over it, as `_CountPermits` and `_count_permits` do. Both are answered at their commits.
 */
export function holdBucket({ heldMs, chance }: HeldBucket): Tamper {
  let heldUntilMs = Number.NEGATIVE_INFINITY;
  let committed = { nextFreeAtUs: 0, turnAtUs: null as number | null };
  return async (call, run, { rows, time, nowMs }) => {
    const [row] = rows.definitions.values();
    const rate = row === undefined ? null : rateOf(row);
    const input = call.input as WorkInput;
    if (row === undefined || rate === null || call.operation !== "work" || input.want === 0)
      return run();
    const nowUs = Math.round(nowMs * 1_000);
    if (time.nowMs < heldUntilMs) {
      const done = (await run({ ...input, want: 0 })) as WorkAnswer;
      const retryInMs = besideHolderMs(rate, { ...committed, nowUs }, chance.random.fraction());
      await time.sleep(heldMs);
      return { ...done, status: "limited", retryInMs };
    }
    const before = { nextFreeAtUs: row.nextFreeAtUs ?? nowUs, turnAtUs: row.turnAtUs };
    const answer = (await run()) as WorkAnswer;
    if (answer.status !== "claimed" && answer.retryInMs === null) return answer;
    committed = before;
    heldUntilMs = time.nowMs + heldMs;
    await time.sleep(heldMs);
    return answer;
  };
}
