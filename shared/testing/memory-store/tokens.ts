import { limits } from "../../core/limits";
import { asFence } from "../../core/ids";
import type { Implementation } from "./implementation";
import { expectRange } from "./arguments";
import { liveUse } from "./holders";
import { definitionNames, definitionOf, findExecution, hasReady, limitOf } from "./rows";
import {
  freeDead,
  settleShared,
  sharedDenial,
  sharedLimitsOf,
  sharedOverLimit,
  waitingBeside,
} from "./shared-tokens";
import {
  giftAt,
  heldByWorker,
  noteDemand,
  noteGift,
  reservedForMs,
  roomAt,
  sharedGift,
  sharedRoom,
} from "./spread";
import { setTokenCount } from "./execution-totals";
import type { DefinitionRow, ExecutionRow, Memory, MemoryState } from "./state";
import { countHeld, TokenPool, tokensOf } from "./token-pool";

/** A request for a definition's tokens. */
export interface TokenAsk {
  /** The live execution that asks; null: none, the tokens are only fitted to the limit. */
  execution: ExecutionRow | null;
  /** Hold up to this many afterwards. */
  want?: number;
  /** Hold at most this many afterwards. */
  keep?: number;
  /** Give back down to this many, but only as many as are held above the limit, or as others who were denied are owed. */
  overLimitKeep?: number;
}

/** The outcome of the request. */
export interface SettledTokens {
  /** Held by the asker now. */
  own: number;
  granted: number;
  freed: number;
  /** Held by all; 0 without a limit. */
  held: number;
  /** Dead holders found. */
  dead: number;
  /** Of the freed tokens those for a denied execution. */
  given: number;
  /** The definitions of those who were denied by a shared limit, and find some now. */
  givenTo: number[];
}

/**
 * The one place that changes a definition's tokens: grant, give back, fit to the limit.
 * Throws StoreContractError when the string is damaged.
 */
export function settleTokens(
  memory: Memory,
  definition: DefinitionRow,
  ask: TokenAsk,
): SettledTokens {
  const limit = limitOf(definition);
  const rows = ask.execution === null ? [] : sharedLimitsOf(memory.state, definition);
  const shared = settleShared(memory, rows, {
    asker: ask.execution?.executionId ?? "0",
    need: Math.max((ask.want ?? 0) - (ask.execution?.tokenCount ?? 0), 0),
  });
  const gift = sharedGiftFor(memory, definition, { ...ask, sharedOverLimit: shared.overLimit });
  const allowed = {
    ...ask,
    ...allowShared(memory, definition, { ...ask, room: shared.room }),
    sharedOverLimit: shared.overLimit,
    sharedGift: gift.count,
  };
  const settled =
    limit === null
      ? settleCounter(definition, allowed)
      : settleString(memory, definition, { ...allowed, limit });
  settled.dead += shared.dead;
  if (settled.granted > 0) definition.tokenFence += 1;
  if (ask.execution !== null && (settled.granted > 0 || settled.freed > 0)) {
    setTokenCount(memory, ask.execution, settled.own);
    const { executionId } = ask.execution;
    settleShared(memory, rows, { asker: executionId, need: 0, own: settled.own });
  }
  const givenTo = noteGift(memory, gift.rows);
  return givenTo.length === 0 ? settled : { ...settled, given: settled.freed, givenTo };
}

/** What the shared limits make of it. */
type SharedAsk = TokenAsk & { sharedOverLimit: number; sharedGift: number };

/** Of a wish no more than the shared limits have room for. */
function allowShared(
  memory: Memory,
  definition: DefinitionRow,
  { execution, want, room }: TokenAsk & { room: number },
): Pick<TokenAsk, "want"> {
  if (want === undefined || execution === null) return {};
  const left = Math.min(room, sharedRoom(memory, definition, execution.worker));
  return { want: Math.max(Math.min(want, execution.tokenCount + left), 0) };
}

/** Nothing is given for others while more is held than a limit allows: that goes back first. */
function sharedGiftFor(
  memory: Memory,
  definition: DefinitionRow,
  { execution, overLimitKeep, sharedOverLimit }: TokenAsk & { sharedOverLimit: number },
): ReturnType<typeof sharedGift> {
  const limit = limitOf(definition) ?? Infinity;
  const isAbove = sharedOverLimit > 0 || countHeld(definition) > limit;
  return execution === null || overLimitKeep === undefined || isAbove
    ? { count: 0, rows: [] }
    : sharedGift(memory, definition, execution.worker);
}

/** Without a limit the execution's counter stands in for the string. */
function settleCounter(definition: DefinitionRow, ask: SharedAsk): SettledTokens {
  const had = ask.execution?.tokenCount ?? 0;
  const isGranted = ask.want !== undefined && ask.want > had && !definition.isPaused;
  const overLimit = Math.max(ask.sharedOverLimit, ask.sharedGift);
  const keep =
    ask.overLimitKeep === undefined || overLimit === 0
      ? (ask.keep ?? had)
      : Math.max(had - overLimit, ask.overLimitKeep);
  const own = isGranted ? (ask.want ?? had) : Math.min(keep, had);
  return {
    own,
    granted: Math.max(own - had, 0),
    freed: Math.max(had - own, 0),
    held: 0,
    dead: 0,
    given: 0,
    givenTo: [],
  };
}

function settleString(
  memory: Memory,
  definition: DefinitionRow,
  ask: SharedAsk & { limit: number },
): SettledTokens {
  const pool = new TokenPool(definition, memory.random);
  const asker = ask.execution?.executionId ?? "0";
  const bound = { row: definition, limit: ask.limit };
  const party = { definition, worker: ask.execution?.worker ?? "" };

  // 1. What the asker no longer wants to hold.
  let keep = ask.keep ?? pool.heldBy(asker);
  const above = Math.max(pool.held - ask.limit, ask.sharedOverLimit);
  const gift =
    ask.overLimitKeep !== undefined && above <= 0
      ? giftAt(memory, bound, { ...party, free: ask.limit - pool.held })
      : null;
  const overLimit = Math.max(above, gift ?? 0, ask.sharedGift);
  if (ask.overLimitKeep !== undefined && overLimit > 0) {
    keep = Math.max(keep - overLimit, ask.overLimitKeep);
  }
  const freed = pool.giveBack(asker, keep);
  const isGiven = gift !== null && pool.held < ask.limit;
  if (isGiven) definition.givenAtMs = memory.nowMs;

  // 2. Dead holders, before any comparison with the limit: else a limit lowered below their number
  // denies for ever.
  const isShort = ask.want !== undefined && ask.limit - pool.held < ask.want - pool.heldBy(asker);
  const dead = pool.held > ask.limit || isShort ? freeDead(memory, pool, asker) : 0;

  // 3. As many tokens as the limit says, or as are held.
  pool.fit(ask.limit);

  // 4. A part of the wish is a grant, too.
  const granted =
    ask.want === undefined || definition.isPaused
      ? 0
      : pool.grant(asker, {
          // Of tokens that were given for a denied execution no process gets more than its part.
          want: Math.min(ask.want, pool.heldBy(asker) + roomAt(memory, bound, party)),
          limit: ask.limit,
        });
  definition.executionTokens = pool.toString();
  return {
    own: pool.heldBy(asker),
    granted,
    freed,
    held: pool.held,
    dead,
    given: isGiven ? freed : 0,
    givenTo: [],
  };
}

/** Tokens held above the limit, or above a shared one, the greater number. */
export function overLimitOf(state: MemoryState, definition: DefinitionRow): number {
  const limit = limitOf(definition);
  const own = limit === null ? 0 : Math.max(countHeld(definition) - limit, 0);
  return Math.max(own, sharedOverLimit(state, definition));
}

/** Free tokens that any worker may have; none are counted where a shared limit decides, too. */
export function freeForAll(memory: Memory, definition: DefinitionRow): number {
  const limit = limitOf(definition);
  if (limit === null || sharedLimitsOf(memory.state, definition).length > 0) return 0;
  if (reservedForMs(memory, definition) !== null) return 0;
  return Math.max(limit - countHeld(definition), 0);
}

/** Why no token is granted, and when to ask again. */
interface Denial {
  readonly status: "paused" | "limited";
  readonly retryInMs: number | null;
}

/** Why an execution can't be given a token; null: at least one is granted. */
function denial(memory: Memory, definition: DefinitionRow): Denial | null {
  if (definition.isPaused) return { status: "paused", retryInMs: null };
  const limit = limitOf(definition);
  const { count, retryInMs } = liveUse(memory, tokensOf(definition));
  if (limit !== null && count >= limit) return { status: "limited", retryInMs };
  const shared = sharedDenial(memory, definition);
  return shared === null ? null : { status: "limited", ...shared };
}

/**
 * The same for a process that asks for a first execution. One that holds tokens gets none of those given for others;
 * only one that holds none is noted.
 */
export function startDenial(
  memory: Memory,
  definition: DefinitionRow,
  worker: string,
): (Denial & { demand: "noted" | "others" | null }) | null {
  const denied = denial(memory, definition);
  if (denied !== null) {
    const isLimited = denied.status === "limited";
    return { ...denied, demand: isLimited ? noteNewcomer(memory, definition, worker) : null };
  }
  const holds = heldByWorker(memory, definition, worker) > 0;
  const retryInMs = holds ? reservedForMs(memory, definition) : null;
  return retryInMs === null ? null : { status: "limited", retryInMs, demand: "others" };
}

/** Notes the denial of a process that holds no token. */
function noteNewcomer(memory: Memory, definition: DefinitionRow, worker: string): "noted" | null {
  const isNewcomer = heldByWorker(memory, definition, worker) === 0;
  return isNewcomer && noteDemand(memory, definition, worker) ? "noted" : null;
}

/** For an asker that got past the denial, and was granted nothing all the same. */
export function deniedGrant(
  memory: Memory,
  definition: DefinitionRow,
  worker: string,
): { status: "limited"; retryInMs: number | null; demand: "noted" | null } {
  const demand = noteNewcomer(memory, definition, worker);
  return { status: "limited", retryInMs: retryInMs(memory, definition), demand };
}

/** How long to wait at most: as the denial says, which may be over by now. */
function retryInMs(memory: Memory, definition: DefinitionRow): number | null {
  return (denial(memory, definition) ?? liveUse(memory, tokensOf(definition))).retryInMs;
}

/** acquire_tokens: makes a live execution hold up to `want` tokens. */
export const acquireTokens: Implementation<"acquireTokens"> = (memory, input) => {
  expectRange("want", input.want, [1, limits.tokensMax]);
  const nothing = {
    tokens: 0,
    granted: 0,
    tokenFence: null,
    retryInMs: null,
    deadHolders: 0,
    demand: null,
  };
  const execution = findExecution(memory.state, input.executionId);
  if (execution?.state !== "live") return { ...nothing, status: "fenced" };
  const definition = definitionOf(memory.state, execution);
  const note = (isDenied: boolean): "noted" | null =>
    isDenied && noteDemand(memory, definition, execution.worker) ? "noted" : null;
  const denied = denial(memory, definition);
  if (denied !== null) {
    const isLimited = denied.status === "limited";
    const demand = note(isLimited && execution.tokenCount < input.want);
    if (execution.tokenCount === 0) return { ...nothing, ...denied, demand };
    const tokenFence = asFence(String(definition.tokenFence));
    return { ...nothing, status: "granted", tokens: execution.tokenCount, tokenFence, demand };
  }
  const settled = settleTokens(memory, definition, { execution, want: input.want });
  const isLimited = settled.own === 0 && !definition.isPaused;
  const isDenied = settled.granted === 0 && settled.own < input.want && !definition.isPaused;
  const demand = note(isDenied);
  return {
    status: settled.own > 0 ? "granted" : definition.isPaused ? "paused" : "limited",
    tokens: settled.own,
    granted: settled.granted,
    tokenFence: asFence(String(definition.tokenFence)),
    retryInMs: isLimited ? retryInMs(memory, definition) : null,
    deadHolders: settled.dead,
    demand,
  };
};

/** release_tokens: by the number that is kept, not the number given back, so a repeat frees nothing. */
export const releaseTokens: Implementation<"releaseTokens"> = (memory, input) => {
  expectRange("keep", input.keep, [0, limits.tokensMax]);
  const execution = findExecution(memory.state, input.executionId);
  if (execution?.state !== "live")
    return { status: "fenced", tokens: 0, freed: 0, ready: false, woken: [] };
  const definition = definitionOf(memory.state, execution);
  const { own, freed } = settleTokens(memory, definition, { execution, keep: input.keep });
  const ready = freed > 0 && hasReady(memory.state, definition);
  const woken = definitionNames(memory.state, waitingBeside(memory.state, definition, freed));
  return { status: "released", tokens: own, freed, ready, woken };
};

/**
 * release_surplus: idle tokens go back after a limit was lowered, no more than are held above it by
 * all; else a part of what it holds more than others, after a recent denial.
 */
export const releaseSurplus: Implementation<"releaseSurplus"> = (memory, input) => {
  expectRange("keep", input.keep, [0, limits.tokensMax]);
  const execution = findExecution(memory.state, input.executionId);
  if (execution?.state !== "live")
    return { status: "fenced", tokens: 0, freed: 0, overLimit: 0, given: 0, woken: [] };
  const definition = definitionOf(memory.state, execution);
  const settled = settleTokens(memory, definition, { execution, overLimitKeep: input.keep });
  const overLimit = overLimitOf(memory.state, definition);
  const { own, freed, given } = settled;
  const woken = definitionNames(memory.state, given > 0 ? settled.givenTo : [], definition);
  return { status: "released", tokens: own, freed, overLimit, given, woken };
};
