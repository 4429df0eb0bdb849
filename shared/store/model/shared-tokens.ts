import type { SharedLimitStatus } from "../../ports/task-store";
import { declareDead, isAlive, liveUse } from "./holders";
import { compareTexts } from "./rows";
import type { DefinitionRow, Model, ModelState, SharedLimitRow } from "./state";
import { countHeld, readableTokens, TokenPool } from "./token-pool";

/** The shared limits that a definition draws from, ascending. */
export function sharedLimitsOf(state: ModelState, definition: DefinitionRow): SharedLimitRow[] {
  return definition.sharedLimitIds.flatMap((id) => state.sharedLimits.get(id) ?? []);
}

/** The limit in force: the operator's, else the code's; null: none. */
export function sharedLimitOf(row: SharedLimitRow): SharedLimitRow["codeLimit"] {
  return row.operatorLimit === "code" ? row.codeLimit : row.operatorLimit;
}

/**
 * Changes the tokens of shared limits: frees the dead's, fits them to the limits; with `own` the asker holds exactly so many in
 * each row afterwards, even above the limit.
 */
export function settleShared(
  model: Model,
  rows: readonly SharedLimitRow[],
  ask: { asker: string; need: number; own?: number },
): { room: number; surplus: number; dead: number } {
  let room = Infinity;
  let surplus = 0;
  let dead = 0;
  for (const row of rows) {
    const limit = sharedLimitOf(row);
    if (limit === null) continue;
    const pool = new TokenPool(row, model.random);
    if (ask.own !== undefined) pool.giveBack(ask.asker, ask.own);
    if (limit - pool.held < ask.need) dead += freeDead(model, pool, ask.asker);
    pool.fit(limit);
    if (ask.own !== undefined) pool.add(ask.asker, ask.own - pool.heldBy(ask.asker));
    row.executionTokens = pool.toString();
    room = Math.min(room, Math.max(limit - pool.held, 0));
    surplus = Math.max(surplus, pool.held - limit);
  }
  return { room, surplus, dead };
}

function freeDead(model: Model, pool: TokenPool, asker: string): number {
  const dead = pool.holders.filter((holder) => holder !== asker && !isAlive(model, holder));
  for (const holder of dead) declareDead(model, holder);
  pool.freeDead(dead);
  return dead.length;
}

/** Is one of them full? Then until when it may stay so; null: none is. */
export function sharedDenial(
  model: Model,
  definition: DefinitionRow,
): { retryInMs: number | null } | null {
  const full = sharedLimitsOf(model.state, definition).flatMap((row) => {
    const limit = sharedLimitOf(row);
    const use = liveUse(model, readableTokens(row));
    return limit !== null && use.count >= limit ? [use.retryInMs] : [];
  });
  if (full.length === 0) return null;
  const waits = full.filter((wait) => wait !== null);
  return { retryInMs: waits.length === 0 ? null : Math.max(...waits) };
}

/** Tokens that the shared limits let be granted; Infinity: any number. */
export function sharedFree(model: Model, definition: DefinitionRow): number {
  const free = sharedLimitsOf(model.state, definition).map((row) => {
    const limit = sharedLimitOf(row);
    return limit === null
      ? Infinity
      : Math.max(limit - liveUse(model, readableTokens(row)).count, 0);
  });
  return Math.min(Infinity, ...free);
}

/** Tokens held above one of them, where that is most. */
export function sharedSurplus(state: ModelState, definition: DefinitionRow): number {
  const over = sharedLimitsOf(state, definition).map((row) => {
    const limit = sharedLimitOf(row);
    return limit === null ? 0 : countHeld(row) - limit;
  });
  return Math.max(0, ...over);
}

/** What people see of them, by name. */
export function describeShared(state: ModelState, definition: DefinitionRow): SharedLimitStatus[] {
  return sharedLimitsOf(state, definition)
    .map((row) => describeSharedLimit(state, row))
    .sort((a, b) => compareTexts(a.name, b.name));
}

/** What people see of one. */
export function describeSharedLimit(state: ModelState, row: SharedLimitRow): SharedLimitStatus {
  const limit = sharedLimitOf(row);
  return {
    name: row.name,
    limit,
    limitSource: row.operatorLimit === "code" ? "code" : "operator",
    held: limit === null ? countShared(state, row) : countHeld(row),
  };
}

/** Tokens of all executions of the definitions that draw from it: without a limit no string counts them. */
export function countShared(state: ModelState, row: SharedLimitRow): number {
  return [...state.executions.values()]
    .filter((execution) => execution.state === "live")
    .filter((execution) => {
      const definition = state.definitions.get(execution.definitionId);
      return definition?.sharedLimitIds.includes(row.sharedLimitId) === true;
    })
    .reduce((sum, execution) => sum + execution.tokenCount, 0);
}
