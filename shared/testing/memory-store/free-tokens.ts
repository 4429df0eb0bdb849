import { asFence } from "../../core/ids";
import { liveUse } from "./holders";
import type { Implementation } from "./implementation";
import { limitOf, readyOf } from "./rows";
import { dueOf } from "./schedule";
import { isCrowdedOut, sharedFree, sharedLimitsOf } from "./shared-tokens";
import type { DefinitionRow, Memory } from "./state";
import { readTokens } from "./token-pool";

const freeMax = 1_000;
const readyMax = 100;

/** read_free_tokens: what a worker that asks now could be granted, and whether tasks wait for it. */
export const readFreeTokens: Implementation<"readFreeTokens"> = (memory, input) => {
  const definition = [...memory.state.definitions.values()].find(({ name }) => name === input.name);
  if (definition === undefined)
    return {
      status: "unknown",
      free: null,
      ready: 0,
      crowdedOut: false,
      grants: 0,
      tokenFence: null,
    };
  const free = freeOf(memory, definition);
  const sinceFence = Number(input.sinceFence ?? definition.tokenFence);
  return {
    status: "read",
    ...free,
    ready: free.free === null || free.free === 0 ? 0 : readyFor(memory, definition),
    grants: Math.min(Math.max(definition.tokenFence - sinceFence, 0), 1_000),
    tokenFence: asFence(String(definition.tokenFence)),
  };
};

function freeOf(
  memory: Memory,
  definition: DefinitionRow,
): { free: number | null; crowdedOut: boolean } {
  const limit = limitOf(definition);
  if (definition.isPaused) return { free: 0, crowdedOut: false };
  if (limit === null && sharedLimitsOf(memory.state, definition).length === 0)
    return { free: null, crowdedOut: false };
  const own =
    limit === null
      ? freeMax
      : Math.max(limit - liveUse(memory, readTokens(definition) ?? []).count, 0);
  if (own > 0 && isCrowdedOut(memory, definition)) return { free: 1, crowdedOut: true };
  return { free: Math.min(own, sharedFree(memory, definition), freeMax), crowdedOut: false };
}

function readyFor(memory: Memory, definition: DefinitionRow): number {
  const ready = Math.min(readyOf(memory.state, definition).length, readyMax);
  return ready === 0 && dueOf(memory, definition).length > 0 ? 1 : ready;
}
