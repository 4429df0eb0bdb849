import { compareTexts } from "../../core/text";
import { limits } from "../../core/limits";
import type {
  RegisterDefinitionInput,
  SetSharedLimitAnswer,
  SharedLimitReading,
  SharedLimitUse,
} from "../../ports/task-store";
import type { Implementation } from "./implementation";
import {
  characters,
  expectLimit,
  expectRange,
  invalidArgument,
  isWithin,
  left,
  unknownArgument,
} from "./arguments";
import { audit, byOperator } from "./audit";
import { holderOf } from "./holders";
import { firstAnswer, keepAnswer } from "./kept-answers";
import { executionsOf } from "./execution-rows";
import { definitionNames, hasReady } from "./rows";
import {
  countShared,
  describeSharedLimit,
  settleShared,
  sharedLimitOf,
  sharedLimitsOf,
} from "./shared-tokens";
import type { DefinitionRow, ExecutionRow, Memory, SharedLimitRow } from "./state";
import { countHeld, readableTokens, tokensOf } from "./token-pool";

/** set_shared_limit: an operator's limit that several definitions share. Acts at the next grant; no task is stopped. */
export const setSharedLimit: Implementation<"setSharedLimit"> = (memory, input) => {
  expectLimit(input.limit);
  const known = findShared(memory, input.name);
  if (known === undefined && input.limit === "code") {
    throw unknownArgument(`name: unknown shared limit (${input.name})`);
  }
  const { operationId, expectedLimit } = input;
  const call = { operationId, name: "set_shared_limit", target: input.name };
  const first = firstAnswer<SetSharedLimitAnswer>(memory, call);
  if (first !== undefined) return first;
  const inForce = known === undefined ? undefined : sharedLimitOf(known);
  if (expectedLimit !== undefined && inForce !== (expectedLimit === -1 ? null : expectedLimit)) {
    const none = { held: 0, overLimit: 0, definitions: [] };
    return { status: "conflict", oldLimit: inForce, newLimit: inForce ?? null, ...none };
  }
  const row = known ?? makeShared(memory, input.name);
  const oldValue = row.operatorLimit === "code" ? null : limitOfText(row.operatorLimit, row);
  const operatorLimit = input.limit === -1 ? null : input.limit;
  const change = changeSharedLimit(memory, row, { codeLimit: row.codeLimit, operatorLimit });
  audit(memory, null, {
    setting: "shared_limit_override",
    oldValue,
    newValue: operatorLimit === "code" ? null : limitOfText(operatorLimit, row),
    ...byOperator(input),
  });
  const linked = [...memory.state.definitions.values()].filter(
    (definition) =>
      definition.sharedLimitIds.includes(row.sharedLimitId) && hasReady(memory.state, definition),
  );
  const ids = linked.map((definition) => definition.definitionId);
  return keepAnswer(memory, call, {
    status: known === undefined ? "created" : "set",
    ...change,
    oldLimit: known === undefined ? undefined : change.oldLimit,
    definitions: definitionNames(memory.state, ids),
  });
};

/** list_shared_limits: by name, with the tokens that each definition holds. */
export const listSharedLimits: Implementation<"listSharedLimits"> = (memory, input) => {
  expectRange("max", input.max, [1, 1_000]);
  const sharedLimits = [...memory.state.sharedLimits.values()]
    .filter((row) => input.name === undefined || row.name === input.name)
    .sort((a, b) => compareTexts(a.name, b.name))
    .slice(0, input.max)
    .map((row) => ({
      ...describeSharedLimit(memory.state, row),
      codeLimit: row.codeLimit,
      definitions: usersOf(memory, row),
    }));
  return { sharedLimits };
};

/** Those that draw from it and what each holds: of its tokens, or without a limit of their own. */
function usersOf(memory: Memory, row: SharedLimitRow): SharedLimitReading["definitions"] {
  const { definitions, executions } = memory.state;
  const holders =
    sharedLimitOf(row) === null
      ? [...executions.values()].flatMap((execution) =>
          execution.state === "live"
            ? Array.from({ length: execution.tokenCount }, () => execution.definitionId)
            : [],
        )
      : readableTokens(row)
          .filter((token) => token.isHeld)
          .map((token) => holderOf(memory, token.grantee)?.definitionId);
  return [...definitions.values()]
    .filter((definition) => definition.sharedLimitIds.includes(row.sharedLimitId))
    .map(({ name, definitionId }) => ({
      name,
      held: holders.filter((holder) => holder === definitionId).length,
    }))
    .sort((a, b) => compareTexts(a.name, b.name));
}

/** What the code says of shared limits: throws InvalidArgumentError with the first problem. */
export function expectShared(shared: readonly SharedLimitUse[]): void {
  const shown = left(JSON.stringify(shared), 200);
  if (shared.length > limits.sharedLimitsMax) {
    throw invalidArgument(`shared_limits: expected at most 8 (${String(shared.length)})`);
  }
  if (shared.some(({ name }) => characters(name) > limits.nameLengthMax)) {
    throw invalidArgument(
      `shared_limits: expected names of 1..200 characters without blanks at either end (${shown})`,
    );
  }
  if (new Set(shared.map(({ name }) => name)).size < shared.length) {
    throw invalidArgument(`shared_limits: expected each name once (${shown})`);
  }
  if (shared.some(({ limit }) => limit != null && !isWithin(limit, -1, limits.tokensMax))) {
    throw invalidArgument(`shared_limits: expected limits of -1..1000 (${shown})`);
  }
}

/**
 * From which shared limits a definition draws, and their limits, as its code says. Running tasks count against a limit from the
 * moment that it applies, and no longer when it doesn't.
 */
export function changeSharedLinks(
  memory: Memory,
  definition: DefinitionRow,
  input: RegisterDefinitionInput,
): void {
  const shared = input.settings.sharedLimits ?? [];
  // Made by name, as everywhere: the order of the ids is that in which they are settled.
  const byName = [...shared].sort((a, b) => compareTexts(a.name, b.name));
  const wanted = new Map(
    byName.map(({ name, limit }) => [findShared(memory, name) ?? makeShared(memory, name), limit]),
  );
  const rows = new Set([...wanted.keys(), ...sharedLimitsOf(memory.state, definition)]);
  for (const row of [...rows].sort((a, b) => a.sharedLimitId - b.sharedLimitId)) {
    changeCodeLimit(memory, definition, { row, limit: wanted.get(row), input });
    changeLink(memory, definition, { row, isWanted: wanted.has(row) });
  }
}

function changeCodeLimit(
  memory: Memory,
  definition: DefinitionRow,
  change: { row: SharedLimitRow; limit: SharedLimitUse["limit"]; input: RegisterDefinitionInput },
): void {
  const { row, input } = change;
  const codeLimit = change.limit === -1 ? null : change.limit;
  if (codeLimit === undefined || codeLimit === row.codeLimit) return;
  const oldValue = limitOfText(row.codeLimit, row);
  changeSharedLimit(memory, row, { codeLimit, operatorLimit: row.operatorLimit });
  audit(memory, definition, {
    setting: "shared_limit",
    oldValue,
    newValue: limitOfText(codeLimit, row),
    source: "code",
    changedBy: input.registeredBy,
  });
}

function changeLink(
  memory: Memory,
  definition: DefinitionRow,
  { row, isWanted }: { row: SharedLimitRow; isWanted: boolean },
): void {
  const others = definition.sharedLimitIds.filter((id) => id !== row.sharedLimitId);
  if (isWanted === others.length < definition.sharedLimitIds.length) return;
  definition.sharedLimitIds = isWanted
    ? [...others, row.sharedLimitId].sort((a, b) => a - b)
    : others;
  for (const execution of liveExecutions(memory, definition)) {
    const own = isWanted ? execution.tokenCount : 0;
    settleShared(memory, [row], { asker: execution.executionId, need: 0, own });
  }
  settleShared(memory, [row], { asker: "0", need: 0 });
}

function changeSharedLimit(
  memory: Memory,
  row: SharedLimitRow,
  to: Pick<SharedLimitRow, "codeLimit" | "operatorLimit">,
): Pick<SetSharedLimitAnswer, "newLimit" | "held" | "overLimit"> & {
  oldLimit: SharedLimitRow["codeLimit"];
} {
  const oldLimit = sharedLimitOf(row);
  // A damaged string throws here, before anything changes.
  tokensOf(row);
  row.codeLimit = to.codeLimit;
  row.operatorLimit = to.operatorLimit;
  const newLimit = sharedLimitOf(row);
  if (newLimit === null) row.executionTokens = "";
  if (newLimit !== null && oldLimit === null) {
    // Tasks that run without a limit are counted as soon as there is one.
    for (const execution of liveExecutions(memory)) {
      const definition = memory.state.definitions.get(execution.definitionId);
      if (definition?.sharedLimitIds.includes(row.sharedLimitId) !== true) continue;
      const { executionId: asker, tokenCount: own } = execution;
      settleShared(memory, [row], { asker, need: 0, own });
    }
  }
  settleShared(memory, [row], { asker: "0", need: 0 });
  const held = newLimit === null ? countShared(memory.state, row) : countHeld(row);
  return { oldLimit, newLimit, held, overLimit: Math.max(held - (newLimit ?? held), 0) };
}

function findShared(memory: Memory, name: string): SharedLimitRow | undefined {
  return [...memory.state.sharedLimits.values()].find((row) => row.name === name);
}

function makeShared(memory: Memory, name: string): SharedLimitRow {
  const sharedLimitId = memory.sequences.next("shared limit");
  const row: SharedLimitRow = {
    sharedLimitId,
    name,
    executionTokens: "",
    codeLimit: 1,
    operatorLimit: "code",
    deniedAtMs: Number.NEGATIVE_INFINITY,
    deniedDefinitionId: null,
    givenAtMs: Number.NEGATIVE_INFINITY,
  };
  memory.state.sharedLimits.set(sharedLimitId, row);
  return row;
}

/** Those that hold tokens. */
function liveExecutions({ state }: Memory, definition?: DefinitionRow): ExecutionRow[] {
  return executionsOf(state, definition).filter(
    (row) => row.state === "live" && row.tokenCount > 0,
  );
}

/** The shared limits that a definition draws from, as the audit writes them. */
export function describeSharedLinks(memory: Memory, definition: DefinitionRow): string {
  const names = sharedLimitsOf(memory.state, definition).map((row) => row.name);
  return names.length === 0 ? "none" : left(JSON.stringify(names.sort(compareTexts)), 400);
}

function limitOfText(limit: SharedLimitRow["codeLimit"], row: SharedLimitRow): string {
  return `${String(limit ?? -1)} of ${row.name}`;
}
