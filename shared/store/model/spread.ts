import { isAlive } from "./holders";
import { limitOf } from "./rows";
import { sharedLimitOf, sharedLimitsOf } from "./shared-tokens";
import type { DefinitionRow, ExecutionRow, Model, SharedLimitRow } from "./state";
import { countHeld, readableTokens } from "./token-pool";

/*
 * How tokens wander from those who hold many to those who were denied: a denial is noted, at most once a second; the first
 * holder that hears of it and has an idle token gives half of what it holds more, and until the denied one looks again nobody
 * who holds as many takes that back. All of it is so for a definition's own limit and for each one that it shares.
 */

const noteEveryMs = 1_000;
/** Of a process that holds some: newcomers ask once, it asks again. */
const noteOfHolderEveryMs = 2_000;
/** Who was noted looks again at the latest after half of what has passed since, and a little. */
const lookMs = 100;
const reservedMostMs = 2_000;
const richestFirstMs = 2_000;

/** A limit of 0 or more that decides about a definition's tokens. */
interface Bound {
  readonly row: DefinitionRow | SharedLimitRow;
  readonly limit: number;
}

/** Those who ask: a process by its work on one definition. */
interface Party {
  readonly definition: DefinitionRow;
  readonly worker: string;
}

/** What a party holds, and each of the others. */
interface Shares {
  readonly mine: number;
  readonly others: readonly number[];
}

function sharedBounds(model: Model, definition: DefinitionRow): Bound[] {
  return sharedLimitsOf(model.state, definition).flatMap((row) => {
    const limit = sharedLimitOf(row);
    return limit === null ? [] : [{ row, limit }];
  });
}

function boundsOf(model: Model, definition: DefinitionRow): Bound[] {
  const limit = limitOf(definition);
  const shared = sharedBounds(model, definition);
  return limit === null ? shared : [{ row: definition, limit }, ...shared];
}

/** Was somebody denied a token within the last lease, for whom nobody has given one yet? */
function isOpen(model: Model, row: Bound["row"], leaseMs: number): boolean {
  return row.deniedAtMs > model.nowMs - leaseMs && row.givenAtMs < row.deniedAtMs;
}

/** The same of any of its limits. */
export function hasOpenDemand(model: Model, definition: DefinitionRow): boolean {
  const { leaseMs } = definition.settings;
  return rowsOf(model, definition).some((row) => isOpen(model, row, leaseMs));
}

function rowsOf(model: Model, definition: DefinitionRow): Bound["row"][] {
  return [definition, ...sharedBounds(model, definition).map(({ row }) => row)];
}

/** Milliseconds until what was given is anybody's: as long as the denied one needs for its next look; null: it is. */
function reservedFor(model: Model, { deniedAtMs, givenAtMs }: Bound["row"]): number | null {
  // Noted since: all were held then, so the gift was fetched.
  if (deniedAtMs > givenAtMs) return null;
  const lastsMs = Math.min(lookMs + Math.floor((givenAtMs - deniedAtMs) / 2), reservedMostMs);
  const leftMs = Math.round(givenAtMs - model.nowMs) + lastsMs;
  return leftMs > 0 ? leftMs : null;
}

/** The same, of that limit where it lasts longest. */
export function reservedForMs(model: Model, definition: DefinitionRow): number | null {
  const waits = rowsOf(model, definition).flatMap((row) => reservedFor(model, row) ?? []);
  return waits.length === 0 ? null : Math.max(...waits);
}

/** How many tokens each party holds. A process that works on two definitions is two of them: one may wait for the other. */
function sharesOf(model: Model, { row }: Bound, { definition, worker }: Party): Shares {
  const counts = new Map<string, number>();
  for (const { isHeld, grantee } of readableTokens(row)) {
    const holder = model.state.executions.get(grantee as ExecutionRow["executionId"]);
    const party = keyOf(holder?.definitionId, holder?.worker ?? `#${grantee}`);
    if (isHeld) counts.set(party, (counts.get(party) ?? 0) + 1);
  }
  const own = keyOf(definition.definitionId, worker);
  const mine = counts.get(own) ?? 0;
  counts.delete(own);
  return { mine, others: [...counts.values()] };
}

function keyOf(definitionId: number | undefined, worker: string): string {
  return `${String(definitionId)} ${worker}`;
}

/**
 * Notes that somebody was denied, at each limit that is reached, when at each of them somebody holds two more than the denied
 * one: else no gift would help. Was it noted?
 */
export function noteDemand(model: Model, definition: DefinitionRow, worker: string): boolean {
  const asker = { definition, worker };
  const full = boundsOf(model, definition)
    .map((bound) => ({ ...bound, ...sharesOf(model, bound, asker) }))
    .filter(({ mine, others, limit }) => sum(others) + mine >= limit);
  const isOutOfReach = full.some(
    ({ mine, others, limit }) => limit < 1 || Math.max(...others) < mine + 2,
  );
  if (isOutOfReach) return false;
  const due = full.filter(
    ({ row, mine }) =>
      row.deniedAtMs <= model.nowMs - (mine > 0 ? noteOfHolderEveryMs : noteEveryMs),
  );
  for (const { row } of due) {
    row.deniedAtMs = model.nowMs;
    if ("deniedDefinitionId" in row) row.deniedDefinitionId = definition.definitionId;
  }
  return due.length > 0;
}

function sum(counts: readonly number[]): number {
  return counts.reduce((all, count) => all + count, 0);
}

/** Tokens that live executions of a process hold of a definition; without a limit of its own, as those that it shares count them. */
export function heldByWorker(model: Model, definition: DefinitionRow, worker: string): number {
  if (limitOf(definition) === null) {
    const bounds = sharedBounds(model, definition);
    return Math.max(
      0,
      ...bounds.map((bound) => sharesOf(model, bound, { definition, worker }).mine),
    );
  }
  return readableTokens(definition).filter((token) => {
    const holder = model.state.executions.get(token.grantee as ExecutionRow["executionId"]);
    return token.isHeld && isAlive(model, token.grantee) && holder?.worker === worker;
  }).length;
}

/** Is it this process that should give? The richest first, or one less rich; after a while any that holds several. */
function isAsked(
  model: Model,
  bound: Bound,
  { definition, mine, others }: Shares & Pick<Party, "definition">,
): boolean {
  if (!isOpen(model, bound.row, definition.settings.leaseMs)) return false;
  return Math.max(0, ...others) - mine < 2 || bound.row.deniedAtMs <= model.nowMs - richestFirstMs;
}

/**
 * How many tokens a process gives when somebody was denied: half of what it holds more than the poorest, up to that one's part
 * of the limit, less what is free; null: it isn't asked.
 */
function giftAt(model: Model, bound: Bound, asker: Party & { free: number }): number | null {
  const { mine, others } = sharesOf(model, bound, asker);
  if (!isAsked(model, bound, { ...asker, mine, others })) return null;
  const least = others.length === 0 ? 0 : Math.min(...others);
  const poorest = mine - least >= 2 ? least : 0;
  const part = Math.ceil(bound.limit / (others.length + (poorest === 0 ? 2 : 1)));
  return Math.min(Math.floor((mine - poorest) / 2), part - poorest) - asker.free;
}

/** The same where somebody was denied by the definition's own limit. */
export function giftOf(
  model: Model,
  definition: DefinitionRow,
  asker: { worker: string; limit: number; free: number },
): number | null {
  const { worker, limit, free } = asker;
  return giftAt(model, { row: definition, limit }, { definition, worker, free });
}

/** The same where somebody was denied by limits that the definition shares: the most that one of them asks for, and which ask. */
export function sharedGift(
  model: Model,
  definition: DefinitionRow,
  worker: string,
): { count: number; rows: SharedLimitRow[] } {
  let count = 0;
  const rows: SharedLimitRow[] = [];
  for (const row of sharedLimitsOf(model.state, definition)) {
    const limit = sharedLimitOf(row);
    if (limit === null) continue;
    const free = limit - countHeld(row);
    const gift = giftAt(model, { row, limit }, { definition, worker, free });
    if (gift === null) continue;
    count = Math.max(count, gift);
    rows.push(row);
  }
  return { count, rows };
}

/** Who was denied by these finds some free now: answers for which definitions that is. */
export function noteGift(model: Model, rows: readonly SharedLimitRow[]): number[] {
  const given = rows.filter((row) => countHeld(row) < (sharedLimitOf(row) ?? 0));
  for (const row of given) row.givenAtMs = model.nowMs;
  return given.flatMap((row) => row.deniedDefinitionId ?? []);
}

/**
 * How many more a process may hold while tokens are reserved: its part of the limit, and no more than the richest other one when
 * it holds some. Infinity: none are.
 */
function roomAt(model: Model, bound: Bound, asker: Party): number {
  if (reservedFor(model, bound.row) === null) return Infinity;
  const { mine, others } = sharesOf(model, bound, asker);
  const part = Math.ceil(bound.limit / (others.length + 1));
  const most = mine > 0 ? Math.min(part, Math.max(0, ...others)) : part;
  return Math.max(0, most - mine);
}

/** By the definition's own limit. */
export function reservedRoom(
  model: Model,
  definition: DefinitionRow,
  { worker, limit }: { worker: string; limit: number },
): number {
  return roomAt(model, { row: definition, limit }, { definition, worker });
}

/** By each of the limits that it shares. */
export function sharedRoom(model: Model, definition: DefinitionRow, worker: string): number {
  const rooms = sharedBounds(model, definition).map((bound) =>
    roomAt(model, bound, { definition, worker }),
  );
  return Math.min(Infinity, ...rooms);
}

/** Could this process give, and should it? */
export function couldGive(model: Model, definition: DefinitionRow, worker: string): boolean {
  const asker = { definition, worker };
  return boundsOf(model, definition).some((bound) => {
    const shares = sharesOf(model, bound, asker);
    return shares.mine > 1 && isAsked(model, bound, { definition, ...shares });
  });
}
