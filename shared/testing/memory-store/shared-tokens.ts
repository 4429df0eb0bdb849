import { compareTexts } from "../../core/text";
import type { SharedLimitStatus } from "../../ports/task-store";
import { declareDead, isAlive, liveUse } from "./holders";
import { countTokens, executionsOf } from "./execution-rows";
import { hasReady } from "./rows";
import type { DefinitionRow, Memory, MemoryState, SharedLimitRow } from "./state";
import { countHeld, readableTokens, TokenPool } from "./token-pool";

/** The shared limits that a definition draws from, ascending. */
export function sharedLimitsOf(state: MemoryState, definition: DefinitionRow): SharedLimitRow[] {
  return definition.sharedLimitIds.flatMap((id) => state.sharedLimits.get(id) ?? []);
}

/** The limit in force: the operator's, else the code's; null: none. */
export function sharedLimitOf(row: SharedLimitRow): SharedLimitRow["codeLimit"] {
  return row.operatorLimit === "code" ? row.codeLimit : row.operatorLimit;
}

/** A limit of 0 or more that decides about a definition's tokens. */
export interface Bound<Row = DefinitionRow | SharedLimitRow> {
  readonly row: Row;
  readonly limit: number;
}

/** Those of the shared limits that a definition draws from. */
export function sharedBounds(
  state: MemoryState,
  definition: DefinitionRow,
): Bound<SharedLimitRow>[] {
  return sharedLimitsOf(state, definition).flatMap((row) => {
    const limit = sharedLimitOf(row);
    return limit === null ? [] : [{ row, limit }];
  });
}

/**
 * Changes the tokens of shared limits: frees the dead's, fits them to the limits; with `own` the asker holds exactly so many in
 * each row afterwards, even above the limit.
 */
export function settleShared(
  memory: Memory,
  rows: readonly SharedLimitRow[],
  ask: { asker: string; need: number; own?: number },
): { room: number; overLimit: number; dead: number } {
  let room = Infinity;
  let overLimit = 0;
  let dead = 0;
  for (const row of rows) {
    const limit = sharedLimitOf(row);
    if (limit === null) continue;
    const pool = new TokenPool(row, memory.random);
    if (ask.own !== undefined) pool.giveBack(ask.asker, ask.own);
    if (limit - pool.held < ask.need) dead += freeDead(memory, pool, ask.asker);
    pool.fit(limit);
    if (ask.own !== undefined) pool.add(ask.asker, ask.own - pool.heldBy(ask.asker));
    row.executionTokens = pool.toString();
    room = Math.min(room, Math.max(limit - pool.held, 0));
    overLimit = Math.max(overLimit, pool.held - limit);
  }
  return { room, overLimit, dead };
}

/** Frees the tokens of dead holders, which are declared so; answers how many there were. */
export function freeDead(memory: Memory, pool: TokenPool, asker: string): number {
  const dead = pool.holders.filter((holder) => holder !== asker && !isAlive(memory, holder));
  for (const holder of dead) declareDead(memory, holder);
  pool.freeDead(dead);
  return dead.length;
}

/** Is one of them full? Then until when it may stay so; null: none is. */
export function sharedDenial(
  memory: Memory,
  definition: DefinitionRow,
): { retryInMs: number | null } | null {
  const full = sharedBounds(memory.state, definition).flatMap(({ row, limit }) => {
    const use = liveUse(memory, readableTokens(row));
    return use.count >= limit ? [use.retryInMs] : [];
  });
  if (full.length === 0) return null;
  const waits = full.filter((wait) => wait !== null);
  return { retryInMs: waits.length === 0 ? null : Math.max(...waits) };
}

/** Tokens that the shared limits let be granted; Infinity: any number. */
export function sharedFree(memory: Memory, definition: DefinitionRow): number {
  const free = sharedBounds(memory.state, definition).map(({ row, limit }) =>
    Math.max(limit - liveUse(memory, readableTokens(row)).count, 0),
  );
  return Math.min(Infinity, ...free);
}

/** Others hold all tokens of one of them, and no live execution of the definition holds any: a worker that asks is given one. */
export function isCrowdedOut(memory: Memory, definition: DefinitionRow): boolean {
  const isClosed = sharedBounds(memory.state, definition).some(({ limit }) => limit === 0);
  if (isClosed || sharedFree(memory, definition) > 0) return false;
  return !executionsOf(memory.state, definition).some(
    (row) => row.tokenCount > 0 && isAlive(memory, row.executionId),
  );
}

/** Tokens held above one of them, where that is most. */
export function sharedOverLimit(state: MemoryState, definition: DefinitionRow): number {
  const over = sharedBounds(state, definition).map(({ row, limit }) => countHeld(row) - limit);
  return Math.max(0, ...over);
}

/** What people see of them, by name. */
export function describeShared(state: MemoryState, definition: DefinitionRow): SharedLimitStatus[] {
  return sharedLimitsOf(state, definition)
    .map((row) => describeSharedLimit(state, row))
    .sort((a, b) => compareTexts(a.name, b.name));
}

/** What people see of one. */
export function describeSharedLimit(state: MemoryState, row: SharedLimitRow): SharedLimitStatus {
  const limit = sharedLimitOf(row);
  return {
    name: row.name,
    limit,
    limitSource: row.operatorLimit === "code" ? "code" : "operator",
    held: limit === null ? countShared(state, row) : countHeld(row),
  };
}

/** Tokens of all executions of the definitions that draw from it: without a limit no string counts them. */
export function countShared(state: MemoryState, row: SharedLimitRow): number {
  const counted = executionsOf(state).filter((execution) => {
    const definition = state.definitions.get(execution.definitionId);
    const isLinked = definition?.sharedLimitIds.includes(row.sharedLimitId) === true;
    return isLinked && execution.state === "live";
  });
  return countTokens(counted);
}

/**
 * Definitions that could use tokens which this one's shared limits have got back: tasks of theirs are ready, and no execution of theirs would
 * find these. The next ones behind it, then from the first one on.
 */
export function waitingBeside(
  state: MemoryState,
  definition: DefinitionRow,
  freed: number,
): number[] {
  const { definitionId } = definition;
  const waits = (row: DefinitionRow): boolean =>
    row !== definition &&
    row.sharedLimitIds.some((id) => definition.sharedLimitIds.includes(id)) &&
    !row.isPaused &&
    hasReady(state, row) &&
    !executionsOf(state, row).some((execution) => execution.state === "live");
  const found = [...state.definitions.values()].filter(waits).map((row) => row.definitionId);
  const turn = (id: number): number => (id < definitionId ? 1 : 0);
  return found.sort((a, b) => turn(a) - turn(b) || a - b).slice(0, freed);
}
