import { limits } from "../../core/limits";
import { rateText } from "../../core/rate";
import { formatTokens, parseTokens } from "../../core/token";
import type {
  Limit,
  PauseAnswer,
  PauseInput,
  RegisterDefinitionInput,
  SetLimitAnswer,
} from "../../ports/task-store";
import type { Implementation } from "./implementation";
import { characters, expectLimit, invalidArgument, isWithin, left } from "./arguments";
import { audit, byOperator } from "./audit";
import { describeKinds, expectKinds, writeKinds } from "./kinds";
import { changeRate, expectRate } from "./rates";
import { firstAnswer, keepAnswer } from "./kept-answers";
import { countTokens, executionsOf } from "./execution-rows";
import { definitionNamed, findDefinition, hasReady, limitOf } from "./rows";
import { noteStop, stopNew } from "./stops";
import type { DefinitionRow, ExecutionRow, Memory } from "./state";
import { changeSharedLinks, describeSharedLinks, expectShared } from "./shared-limits";
import { settleTokens } from "./tokens";

/** register_definition: writes what the code says; an operator's overrides stay. */
export const registerDefinition: Implementation<"registerDefinition"> = (memory, input) => {
  expectSettings(input);
  const known = findDefinition(memory.state, input.name);
  if (known === undefined) {
    const definition = createDefinition(memory, input);
    applySettings(memory, definition, input);
    audit(memory, definition, {
      setting: "limit",
      oldValue: null,
      newValue: limitText(input.settings.limit),
      source: "code",
      changedBy: input.registeredBy,
    });
    stopNew(memory, definition);
    return { status: "created", taskDefinitionId: definition.definitionId };
  }
  const taskDefinitionId = known.definitionId;
  if (known.build > input.build) return { status: "outdated", taskDefinitionId };
  if (known.build === input.build && known.settingsHash === input.settingsHash) {
    return { status: "exists", taskDefinitionId };
  }
  const before = describeSettings(memory, known);
  applySettings(memory, known, input);
  for (const [setting, newValue] of describeSettings(memory, known)) {
    const oldValue = before.get(setting) ?? null;
    if (oldValue === newValue) continue;
    audit(memory, known, {
      setting,
      oldValue,
      newValue,
      source: "code",
      changedBy: input.registeredBy,
    });
  }
  return { status: "updated", taskDefinitionId };
};

function createDefinition(memory: Memory, input: RegisterDefinitionInput): DefinitionRow {
  const definition: DefinitionRow = {
    definitionId: memory.sequences.next("definition"),
    name: input.name,
    executionTokens: "",
    tokenFence: 0,
    // Limit 0: nothing is granted before the settings are in force.
    settings: { ...input.settings, limit: 0, rate: null },
    operatorLimit: "code",
    operatorRate: "code",
    sharedLimitIds: [],
    nextFreeAtUs: null,
    turnAtUs: null,
    deniedAtMs: Number.NEGATIVE_INFINITY,
    givenAtMs: Number.NEGATIVE_INFINITY,
    isPaused: false,
    build: 0,
    settingsHash: "",
    kinds: new Map(),
  };
  memory.state.definitions.set(definition.definitionId, definition);
  return definition;
}

function applySettings(
  memory: Memory,
  definition: DefinitionRow,
  input: RegisterDefinitionInput,
): void {
  const settings = { ...input.settings, limit: withoutCode(input.settings.limit) };
  const { operatorLimit, operatorRate } = definition;
  changeLimit(memory, definition, { codeLimit: settings.limit, operatorLimit });
  changeRate(memory, definition, { code: settings.rate ?? null, operator: operatorRate });
  definition.settings = settings;
  definition.build = input.build;
  definition.settingsHash = input.settingsHash;
  changeSharedLinks(memory, definition, input);
  writeKinds(definition, input);
}

/**
 * set_limit: an operator's limit over the code's, or none any more. Acts at the next grant; no task
 * is stopped.
 */
export const setLimit: Implementation<"setLimit"> = (memory, input) => {
  expectLimit(input.limit);
  const definition = definitionNamed(memory.state, input.name);
  const { operationId } = input;
  const call = { operationId, name: "set_limit", target: String(definition.definitionId) };
  const first = firstAnswer<SetLimitAnswer>(memory, call);
  if (first !== undefined) return first;
  const inForce = limitOf(definition);
  if (input.expectedLimit !== undefined && withoutCode(input.expectedLimit) !== inForce) {
    const none = { held: 0, overLimit: 0, ready: false };
    return { status: "conflict", oldLimit: inForce, newLimit: inForce, ...none };
  }
  const before = definition.operatorLimit;
  const change = changeLimit(memory, definition, {
    codeLimit: definition.settings.limit,
    operatorLimit: input.limit === "code" ? "code" : withoutCode(input.limit),
  });
  const ready = hasReady(memory.state, definition);
  audit(memory, definition, {
    setting: "limit_override",
    oldValue: before === "code" ? null : limitText(before),
    newValue: input.limit === "code" ? null : limitText(input.limit),
    ...byOperator(input),
  });
  return keepAnswer(memory, call, { status: "set", ...change, ready });
};

/** Writes a limit and brings the tokens in line. */
function changeLimit(
  memory: Memory,
  definition: DefinitionRow,
  to: { codeLimit: Limit; operatorLimit: Limit | "code" },
): { oldLimit: Limit; newLimit: Limit; held: number; overLimit: number } {
  const oldLimit = limitOf(definition);
  const newLimit = to.operatorLimit === "code" ? to.codeLimit : to.operatorLimit;
  let tokens = definition.executionTokens;
  if (newLimit === null) tokens = "";
  // Tasks that run without a limit are counted as soon as there is one.
  else if (oldLimit === null) tokens = countedTokens(memory, definition);
  // A damaged string throws here, before anything changes.
  parseTokens(tokens);

  definition.settings = { ...definition.settings, limit: to.codeLimit };
  definition.operatorLimit = to.operatorLimit;
  definition.executionTokens = tokens;
  const settled = settleTokens(memory, definition, { execution: null });
  const held = newLimit === null ? countTokens(liveExecutions(memory, definition)) : settled.held;
  return { oldLimit, newLimit, held, overLimit: Math.max(held - (newLimit ?? held), 0) };
}

/** The string for the tokens that were granted while there was no limit. */
function countedTokens(memory: Memory, definition: DefinitionRow): string {
  const held = liveExecutions(memory, definition).flatMap((execution) =>
    Array.from({ length: execution.tokenCount }, () => ({
      id: memory.random.uuid(),
      isHeld: true,
      grantee: execution.executionId,
    })),
  );
  return formatTokens(held);
}

function liveExecutions({ state }: Memory, definition: DefinitionRow): ExecutionRow[] {
  return executionsOf(state, definition).filter((row) => row.state === "live");
}

/** pause_definition: nothing new is claimed or started; running tasks go on and may complete. */
export const pauseDefinition: Implementation<"pauseDefinition"> = (memory, input) =>
  setPaused(memory, input, true);

/** resume_definition: takes a pause away. */
export const resumeDefinition: Implementation<"resumeDefinition"> = (memory, input) =>
  setPaused(memory, input, false);

function setPaused(memory: Memory, input: PauseInput, isPaused: boolean): PauseAnswer {
  const definition = definitionNamed(memory.state, input.name);
  const ready = hasReady(memory.state, definition);
  const { expectedPaused = definition.isPaused } = input;
  if (expectedPaused !== definition.isPaused) return { status: "conflict", ready };
  const didPause = isPaused && !definition.isPaused;
  const place = { stopped: memory.state.stoppedDefinitions, id: definition.definitionId };
  const wasStopped = noteStop(memory, place, { ...input, didPause });
  const isSame = definition.isPaused === isPaused;
  if (isSame && !wasStopped) return { status: "exists", ready };
  definition.isPaused = isPaused;
  audit(memory, definition, {
    setting: "paused",
    oldValue: isSame ? "stopped" : String(!isPaused),
    newValue: String(isPaused),
    ...byOperator(input),
  });
  if (isSame) return { status: "exists", ready };
  return { status: isPaused ? "paused" : "resumed", ready };
}

/** The code's settings as the audit writes them. */
function describeSettings(memory: Memory, definition: DefinitionRow): Map<string, string> {
  const { settings, build } = definition;
  return new Map([
    ["limit", limitText(settings.limit)],
    ["lease_ms", String(settings.leaseMs)],
    ["retry_attempts", String(settings.retryAttempts)],
    ["lost_max", String(settings.lostMax)],
    ["retry_base_ms", String(settings.retryBaseMs)],
    ["retry_cap_ms", String(settings.retryCapMs)],
    ["prefetch_max", String(settings.prefetchMax)],
    ["group_slots", String(settings.groupSlots)],
    ["group_strict", String(settings.groupStrict)],
    ["retain_done_ms", String(settings.retainDoneMs)],
    ["retain_dead_ms", String(settings.retainDeadMs)],
    ["keep_payload", String(settings.keepPayload ?? true)],
    ["rate", rateText(settings.rate ?? null)],
    ["build", String(build)],
    ["shared_limits", describeSharedLinks(memory, definition)],
    ["kinds", describeKinds(definition)],
  ]);
}

/** The databases take -1 for no limit; callers that know them may pass it, too. */
function withoutCode(limit: Limit): Limit {
  return limit === -1 ? null : limit;
}

/** No limit is -1 in the databases. */
function limitText(limit: Limit): string {
  return String(limit ?? -1);
}

/** Throws InvalidArgumentError with the first problem. */
function expectSettings(input: RegisterDefinitionInput): void {
  const { settings } = input;
  if (!isWithin(characters(input.settingsHash), 1, 64)) {
    const shown = left(input.settingsHash, 80);
    throw invalidArgument(`settings_hash: expected 1..64 characters (${shown})`);
  }
  const ranges: [string, number, number, number][] = [
    ["limit", settings.limit ?? -1, -1, limits.tokensMax],
    ["lease_ms", settings.leaseMs, limits.leaseMsMin, limits.leaseMsMax],
    ["retry_attempts", settings.retryAttempts, 1, 1_000],
    ["lost_max", settings.lostMax, 0, 1_000],
    ["retry_base_ms", settings.retryBaseMs, 0, 86_400_000],
    ["retry_cap_ms", settings.retryCapMs, settings.retryBaseMs, Infinity],
    ["prefetch_max", settings.prefetchMax, 0, 1_000],
    ["group_slots", settings.groupSlots, 1, 1_000],
    ["retain_done_ms", settings.retainDoneMs, 0, limits.runInMsMax],
    ["retain_dead_ms", settings.retainDeadMs, 0, limits.runInMsMax],
  ];
  for (const [field, value, least, max] of ranges) {
    if (isWithin(value, least, max)) continue;
    const range =
      field === "retry_cap_ms" ? "retry_base_ms or more" : `${String(least)}..${String(max)}`;
    throw invalidArgument(`${field}: expected ${range} (${String(value)})`);
  }
  expectRate(settings.rate ?? null);
  expectShared(settings.sharedLimits ?? []);
  expectKinds(input.kinds ?? []);
}
