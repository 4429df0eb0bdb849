import { isAlive } from "./holders";
import { limitOf } from "./rows";
import type { DefinitionRow, ExecutionRow, Model } from "./state";
import { countPerHolder, readableTokens } from "./token-pool";
import type { TokenPool } from "./token-pool";

/*
 * How tokens wander from those who hold many to those who were denied: a denial is noted, at most once a second; the first
 * holder that hears of it and has an idle token gives half of what it holds more, and for a while nobody who holds as many
 * takes that back.
 */

const noteEveryMs = 1_000;
const reservedMs = 2_000;

/** Was somebody denied a token within the last lease, for whom nobody has given one yet? */
export function hasOpenDemand(model: Model, definition: DefinitionRow): boolean {
  const { deniedAtMs, givenAtMs } = definition;
  return deniedAtMs > model.nowMs - definition.settings.leaseMs && givenAtMs < deniedAtMs;
}

/** Were tokens given so lately that they are for those who hold few? */
export function isReserved(model: Model, definition: DefinitionRow): boolean {
  return definition.givenAtMs > model.nowMs - reservedMs;
}

/** Milliseconds until what was given is anybody's. */
export function reservedForMs(model: Model, definition: DefinitionRow): number {
  return Math.round(definition.givenAtMs - model.nowMs) + reservedMs;
}

/** Notes that somebody who holds `own` was denied, when a holder has two more and the limit is reached. Was it noted? */
export function noteDemand(model: Model, definition: DefinitionRow, own: number): boolean {
  if (definition.deniedAtMs > model.nowMs - noteEveryMs) return false;
  const limit = limitOf(definition);
  const counts = [...countPerHolder(readableTokens(definition)).values()];
  const held = counts.reduce((sum, count) => sum + count, 0);
  if (limit === null || limit < 1 || held < limit || Math.max(...counts) < own + 2) return false;
  definition.deniedAtMs = model.nowMs;
  return true;
}

/** Tokens that live executions of a process hold. */
export function heldByWorker(model: Model, definition: DefinitionRow, worker: string): number {
  return readableTokens(definition).filter((token) => {
    const holder = model.state.executions.get(token.grantee as ExecutionRow["executionId"]);
    return token.isHeld && isAlive(model, token.grantee) && holder?.worker === worker;
  }).length;
}

/** How many tokens a holder gives when somebody was denied: half of what it holds more than the poorest, less what is free. */
export function giftOf(pool: TokenPool, asker: string, limit: number): number {
  const own = pool.heldBy(asker);
  const poorest = Math.min(...pool.countsOfOthers(asker));
  const isRicher = Number.isFinite(poorest) && own - poorest >= 2;
  return Math.floor((own - (isRicher ? poorest : 0)) / 2) - (limit - pool.held);
}

/** The surplus that a holder is told of: above the limit, or one where somebody else was denied and it could give. */
export function toldSurplus(
  model: Model,
  execution: ExecutionRow,
  about: { definition: DefinitionRow; surplus: number },
): number {
  const isAsked = execution.tokenCount > 1 && hasOpenDemand(model, about.definition);
  return about.surplus === 0 && isAsked ? 1 : about.surplus;
}
