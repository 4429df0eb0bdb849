import { isCallsDefinition } from "../../core/calls-definition";
import { holderOf, isAlive } from "./holders";
import { limitOf } from "./rows";
import { sharedBounds, sharedLimitOf } from "./shared-tokens";
import type { Bound } from "./shared-tokens";
import type { DefinitionRow, Memory, SharedLimitRow } from "./state";
import { countHeld, readableTokens } from "./token-pool";

/*
 * How tokens move from processes with many to denied executions: a denial is noted, at most once a second; the first
 * holder that is told and has an idle token gives half of what it holds more. Until the denied one asks again, no process
 * that holds as many takes that back. All of it applies to a definition's own limit and to each one that it shares.
 */

const noteEveryMs = 1_000;
/** Of a process that holds some: newcomers ask once, it asks again. */
const noteOfHolderEveryMs = 2_000;
/** A noted execution asks again at the latest after half of the time that has passed since, and a little. */
const lookMs = 100;
const reservedMaxMs = 2_000;
const richestFirstMs = 2_000;

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

function boundsOf(memory: Memory, definition: DefinitionRow): Bound[] {
  const limit = limitOf(definition);
  const shared = sharedBounds(memory.state, definition);
  return limit === null ? shared : [{ row: definition, limit }, ...shared];
}

/** Was a token denied within the last lease, and has none been given back for that denial yet? */
function isOpen(memory: Memory, row: Bound["row"], leaseMs: number): boolean {
  return row.deniedAtMs > memory.nowMs - leaseMs && row.givenAtMs < row.deniedAtMs;
}

/** The same of any of its limits. */
export function hasOpenDemand(memory: Memory, definition: DefinitionRow): boolean {
  const { leaseMs } = definition.settings;
  return rowsOf(memory, definition).some((row) => isOpen(memory, row, leaseMs));
}

function rowsOf(memory: Memory, definition: DefinitionRow): Bound["row"][] {
  return [definition, ...sharedBounds(memory.state, definition).map(({ row }) => row)];
}

/** Milliseconds until given tokens are free for all: the time in which the denied one asks again; null: they are free. */
function reservedFor(memory: Memory, { deniedAtMs, givenAtMs }: Bound["row"]): number | null {
  // Noted since: all were held then, so the gift was fetched.
  if (deniedAtMs > givenAtMs) return null;
  const lastsMs = Math.min(lookMs + Math.floor((givenAtMs - deniedAtMs) / 2), reservedMaxMs);
  const leftMs = Math.round(givenAtMs - memory.nowMs) + lastsMs;
  return leftMs > 0 ? leftMs : null;
}

/** The same, of that limit where it lasts longest. */
export function reservedForMs(memory: Memory, definition: DefinitionRow): number | null {
  const waits = rowsOf(memory, definition).flatMap((row) => reservedFor(memory, row) ?? []);
  return waits.length === 0 ? null : Math.max(...waits);
}

/** How many tokens each party holds. A process that works on two definitions is two of them: one may wait for the other. */
function sharesOf(memory: Memory, { row }: Bound, { definition, worker }: Party): Shares {
  const counts = new Map<string, number>();
  for (const { isHeld, grantee } of readableTokens(row)) {
    const holder = holderOf(memory, grantee);
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
 * Notes a denial at each limit that is reached, when at each of them a process holds two more than the denied
 * one: else no gift would help. Calls of functions without tasks pass on the last token of a shared limit, too. Was it noted?
 */
export function noteDemand(memory: Memory, definition: DefinitionRow, worker: string): boolean {
  const asker = { definition, worker };
  const bounds = boundsOf(memory, definition).map((bound) => ({
    ...bound,
    ...sharesOf(memory, bound, asker),
  }));
  const full = bounds.filter(({ mine, others, limit }) => sum(others) + mine >= limit);
  const isOutOfReach = full.some(
    ({ row, mine, others, limit }) =>
      limit < 1 || (Math.max(...others) < mine + 2 && (mine > 0 || !isHeldByCalls(memory, row))),
  );
  if (isOutOfReach) return false;
  const holds = bounds.some(
    (bound) => bound.mine > 0 && (bound.row === definition || full.includes(bound)),
  );
  const beforeMs = memory.nowMs - (holds ? noteOfHolderEveryMs : noteEveryMs);
  const due = full.filter(({ row }) => row.deniedAtMs <= beforeMs);
  for (const { row } of due) {
    row.deniedAtMs = memory.nowMs;
    if ("deniedDefinitionId" in row) row.deniedDefinitionId = definition.definitionId;
  }
  return due.length > 0;
}

/** Does a definition give its last token of that limit? Its tokens serve calls of functions without tasks, which take turns. */
function passesOn(definition: DefinitionRow | undefined, row: Bound["row"]): boolean {
  return (
    definition !== undefined && isCallsDefinition(definition.name) && "deniedDefinitionId" in row
  );
}

function isHeldByCalls(memory: Memory, row: Bound["row"]): boolean {
  return readableTokens(row).some(({ isHeld, grantee }) => {
    const holder = isHeld ? holderOf(memory, grantee) : undefined;
    return passesOn(memory.state.definitions.get(holder?.definitionId ?? 0), row);
  });
}

function sum(counts: readonly number[]): number {
  return counts.reduce((all, count) => all + count, 0);
}

/** Tokens that live executions of a process hold of a definition; without a limit of its own, as those that it shares count them. */
export function heldByWorker(memory: Memory, definition: DefinitionRow, worker: string): number {
  if (limitOf(definition) === null) {
    const bounds = sharedBounds(memory.state, definition);
    return Math.max(
      0,
      ...bounds.map((bound) => sharesOf(memory, bound, { definition, worker }).mine),
    );
  }
  return readableTokens(definition).filter(
    ({ isHeld, grantee }) =>
      isHeld && isAlive(memory, grantee) && holderOf(memory, grantee)?.worker === worker,
  ).length;
}

/** Is it this process that should give? The richest first, or one less rich; after a while any that holds several. */
function isAsked(
  memory: Memory,
  bound: Bound,
  { definition, mine, others }: Shares & Pick<Party, "definition">,
): boolean {
  if (!isOpen(memory, bound.row, definition.settings.leaseMs)) return false;
  return Math.max(0, ...others) - mine < 2 || bound.row.deniedAtMs <= memory.nowMs - richestFirstMs;
}

/**
 * The tokens that a process gives after a denial: half of what it holds more than the poorest one, up to that one's part
 * of the limit, less the free ones; null: it isn't asked.
 */
export function giftAt(
  memory: Memory,
  bound: Bound,
  asker: Party & { free: number },
): number | null {
  const { mine, others } = sharesOf(memory, bound, asker);
  if (!isAsked(memory, bound, { ...asker, mine, others })) return null;
  const least = others.length === 0 ? 0 : Math.min(...others);
  const poorest = mine - least >= 2 ? least : 0;
  const part = Math.ceil(bound.limit / (others.length + (poorest === 0 ? 2 : 1)));
  const isLast = mine === 1 && Math.max(0, ...others) <= 1 && passesOn(asker.definition, bound.row);
  const half = isLast ? 1 : Math.floor((mine - poorest) / 2);
  return Math.min(half, part - poorest) - asker.free;
}

/** The same after denials by limits that the definition shares: the most that one of them asks for, and which ask. */
export function sharedGift(
  memory: Memory,
  definition: DefinitionRow,
  worker: string,
): { count: number; rows: SharedLimitRow[] } {
  let count = 0;
  const rows: SharedLimitRow[] = [];
  for (const { row, limit } of sharedBounds(memory.state, definition)) {
    const free = limit - countHeld(row);
    const gift = giftAt(memory, { row, limit }, { definition, worker, free });
    if (gift === null) continue;
    count = Math.max(count, gift);
    rows.push(row);
  }
  return { count, rows };
}

/** Denied executions of these limits find free tokens now: answers their definitions. */
export function noteGift(memory: Memory, rows: readonly SharedLimitRow[]): number[] {
  const given = rows.filter((row) => countHeld(row) < (sharedLimitOf(row) ?? 0));
  for (const row of given) row.givenAtMs = memory.nowMs;
  return given.flatMap((row) => row.deniedDefinitionId ?? []);
}

/**
 * How many more a process may hold while tokens are reserved: its part of the limit, and no more than the richest other one when
 * it holds some. Infinity: none are.
 */
export function roomAt(memory: Memory, bound: Bound, asker: Party): number {
  if (reservedFor(memory, bound.row) === null) return Infinity;
  const { mine, others } = sharesOf(memory, bound, asker);
  const part = Math.ceil(bound.limit / (others.length + 1));
  const max = mine > 0 ? Math.min(part, Math.max(0, ...others)) : part;
  return Math.max(0, max - mine);
}

/** The same by each of the limits that it shares. */
export function sharedRoom(memory: Memory, definition: DefinitionRow, worker: string): number {
  const rooms = sharedBounds(memory.state, definition).map((bound) =>
    roomAt(memory, bound, { definition, worker }),
  );
  return Math.min(Infinity, ...rooms);
}

/** Could this process give, and should it? */
export function couldGive(memory: Memory, definition: DefinitionRow, worker: string): boolean {
  const asker = { definition, worker };
  return boundsOf(memory, definition).some((bound) => {
    const shares = sharesOf(memory, bound, asker);
    return shares.mine > 1 && isAsked(memory, bound, { definition, ...shares });
  });
}
