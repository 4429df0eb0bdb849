import { isAlive } from "./holders";
import { limitOf } from "./rows";
import type { DefinitionRow, ExecutionRow, Model } from "./state";
import { readableTokens } from "./token-pool";

/*
 * How tokens wander from those who hold many to those who were denied: a denial is noted, at most once a second; the first
 * holder that hears of it and has an idle token gives half of what it holds more, and until the denied one looks again nobody
 * who holds as many takes that back.
 */

const noteEveryMs = 1_000;
/** Of a process that holds some: newcomers ask once, it asks again. */
const noteOfHolderEveryMs = 2_000;
/** Who was noted looks again at the latest after half of what has passed since, and a little. */
const lookMs = 100;
const reservedMostMs = 2_000;
const richestFirstMs = 2_000;

/** Was somebody denied a token within the last lease, for whom nobody has given one yet? */
export function hasOpenDemand(model: Model, definition: DefinitionRow): boolean {
  const { deniedAtMs, givenAtMs } = definition;
  return deniedAtMs > model.nowMs - definition.settings.leaseMs && givenAtMs < deniedAtMs;
}

/** Milliseconds until what was given is anybody's: as long as the denied one needs for its next look; null: it is. */
export function reservedForMs(model: Model, definition: DefinitionRow): number | null {
  const { deniedAtMs, givenAtMs } = definition;
  // Noted since: all were held then, so the gift was fetched.
  if (deniedAtMs > givenAtMs) return null;
  const lastsMs = Math.min(lookMs + Math.floor((givenAtMs - deniedAtMs) / 2), reservedMostMs);
  const leftMs = Math.round(givenAtMs - model.nowMs) + lastsMs;
  return leftMs > 0 ? leftMs : null;
}

/** How many tokens the executions of each process hold together. */
function heldByProcess(model: Model, definition: DefinitionRow): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { isHeld, grantee } of readableTokens(definition)) {
    const holder = model.state.executions.get(grantee as ExecutionRow["executionId"]);
    const process = holder?.worker ?? `#${grantee}`;
    if (isHeld) counts.set(process, (counts.get(process) ?? 0) + 1);
  }
  return counts;
}

/** What a process holds, and each of the others. */
function sharesOf(
  model: Model,
  definition: DefinitionRow,
  worker: string,
): { mine: number; others: number[] } {
  const counts = heldByProcess(model, definition);
  const mine = counts.get(worker) ?? 0;
  counts.delete(worker);
  return { mine, others: [...counts.values()] };
}

/** Notes that somebody was denied, when a process holds two more than the denied one's and the limit is reached. Was it noted? */
export function noteDemand(model: Model, definition: DefinitionRow, worker: string): boolean {
  const { mine, others } = sharesOf(model, definition, worker);
  if (definition.deniedAtMs > model.nowMs - (mine > 0 ? noteOfHolderEveryMs : noteEveryMs))
    return false;
  const limit = limitOf(definition);
  const held = others.reduce((sum, count) => sum + count, mine);
  if (limit === null || limit < 1 || held < limit || Math.max(...others) < mine + 2) return false;
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

/** Is it this process that should give? The richest first, or one less rich; after a while any that holds several. */
function isAsked(
  model: Model,
  definition: DefinitionRow,
  { mine, others }: { mine: number; others: readonly number[] },
): boolean {
  if (!hasOpenDemand(model, definition)) return false;
  return Math.max(0, ...others) - mine < 2 || definition.deniedAtMs <= model.nowMs - richestFirstMs;
}

/**
 * How many tokens a process gives when somebody was denied: half of what it holds more than the poorest, up to that one's part
 * of the limit, less what is free; null: it isn't asked.
 */
export function giftOf(
  model: Model,
  definition: DefinitionRow,
  asker: { worker: string; limit: number; free: number },
): number | null {
  const shares = sharesOf(model, definition, asker.worker);
  if (!isAsked(model, definition, shares)) return null;
  const { mine, others } = shares;
  const least = others.length === 0 ? 0 : Math.min(...others);
  const poorest = mine - least >= 2 ? least : 0;
  const part = Math.ceil(asker.limit / (others.length + (poorest === 0 ? 2 : 1)));
  return Math.min(Math.floor((mine - poorest) / 2), part - poorest) - asker.free;
}

/** How many more a process may hold while tokens are reserved: its part of the limit, and no more than the richest other one when it holds some. */
export function reservedRoom(
  model: Model,
  definition: DefinitionRow,
  { worker, limit }: { worker: string; limit: number },
): number {
  const { mine, others } = sharesOf(model, definition, worker);
  const part = Math.ceil(limit / (others.length + 1));
  return Math.max(0, (mine > 0 ? Math.min(part, Math.max(0, ...others)) : part) - mine);
}

/** Could this process give, and should it? */
export function couldGive(model: Model, definition: DefinitionRow, worker: string): boolean {
  const shares = sharesOf(model, definition, worker);
  return shares.mine > 1 && isAsked(model, definition, shares);
}
