/**
 * What operators do to limits and rates: one call of the store, then hints for definitions whose tasks may start by it.
 */
import type { Rate } from "../core/rate";
import type { Limit, SetLimitInput, SetRateInput, SetSharedLimitInput } from "../ports/task-store";
import { hintAll } from "./admin-tools";
import type { AdminTools } from "./admin-tools";
import { withoutConflict } from "./settings-conflict";

/** What a change of a limit did. */
export interface LimitReport {
  readonly definition: string;
  readonly oldLimit: Limit;
  readonly newLimit: Limit;
  /** Tokens held now. */
  readonly held: number;
  /** Of them above the new limit: they come back as their tasks end. */
  readonly overLimit: number;
}

/** What a change of a rate did; exists: it was so already. */
export interface RateReport {
  readonly definition: string;
  readonly status: "set" | "exists";
  /** In force; null: none. */
  readonly oldRate: Rate | null;
  readonly newRate: Rate | null;
}

/** What a change of a shared limit did. */
export interface SharedLimitReport {
  readonly sharedLimit: string;
  readonly status: "set" | "created";
  /** Left out when it was made. */
  readonly oldLimit?: Limit;
  readonly newLimit: Limit;
  /** Tokens held now by all definitions together; of them above the new limit. */
  readonly held: number;
  readonly overLimit: number;
}

/** Sets or clears the operator's limit; leaves a hint when tasks wait and tokens are free. Throws SettingsConflict. */
export async function setLimit(
  { store, wakeUp }: AdminTools,
  input: SetLimitInput,
): Promise<LimitReport> {
  const answer = await store.setLimit(input);
  withoutConflict(answer.status);
  const isFree = answer.newLimit === null || answer.held < answer.newLimit;
  if (answer.ready && isFree) await wakeUp.hint(input.name);
  const { oldLimit, newLimit, held, overLimit } = answer;
  return { definition: input.name, oldLimit, newLimit, held, overLimit };
}

/** Sets or clears the operator's rate; leaves a hint when tasks wait. Throws SettingsConflict. */
export async function setRate(tools: AdminTools, input: SetRateInput): Promise<RateReport> {
  const { ready, ...answer } = await tools.store.setRate(input);
  const status = withoutConflict(answer.status);
  if (ready) await tools.wakeUp.hint(input.name);
  return { definition: input.name, ...answer, status };
}

/** Sets or clears the operator's shared limit; leaves hints for definitions that wait when tokens are free. Throws SettingsConflict. */
export async function setSharedLimit(
  tools: AdminTools,
  input: SetSharedLimitInput,
): Promise<SharedLimitReport> {
  const set = await tools.store.setSharedLimit(input);
  const status = withoutConflict(set.status);
  const { definitions, oldLimit, overLimit, ...answer } = set;
  const isFree = answer.newLimit === null || answer.held < answer.newLimit;
  if (isFree) await hintAll(tools.wakeUp, definitions);
  const old = oldLimit === undefined ? {} : { oldLimit };
  return { sharedLimit: input.name, ...old, ...answer, status, overLimit };
}
