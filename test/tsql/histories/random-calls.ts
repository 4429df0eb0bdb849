import { listableStates } from "../../../shared/core/listable-states";
import type { DefinitionSettings } from "../../../shared/ports/task-store";
import type { Action, ClaimRef, EnqueueCall, FailureRef } from "./call";
import type { EnqueuedTask } from "./new-tasks";
import type { Dice } from "../../support/dice";
import { chooseOperatorAction, isOperatorKind, operatorWeights } from "./random-operator-calls";
import {
  advanceWatermark,
  chooseSharedSettings,
  chooseStandingAction,
  isStandingKind,
  standingWeights,
} from "./random-standing-calls";
import type { Knowledge, KnownDefinition, KnownExecution, Taste } from "./knowledge";

/*
 * What may come next in a history. Small worlds on purpose: three definitions, three groups, three keys, two or three
 * tokens, leases of seconds: so that things meet. Nothing is left to the stores' own chance: a failure without a delay of
 * its own happens only where the back-off is none.
 */

const groupKeys = ["blue", "Blue"] as const;
const dedupeKeys = ["one", "two", "One"] as const;
const payloads = [null, "{}", '{"n":1}', "[1,2]", '{"text":"ä€😀 \\" \\\\ "}'] as const;
const results = [null, null, '{"ok":true}', "[]"] as const;
const texts = ["it broke", "ä€😀 'quoted' \"twice\"", "line\nbreak", ""] as const;

/** How often each kind of call is made. */
export const weights = {
  register: 2,
  setLimit: 2,
  pause: 1,
  resume: 2,
  start: 12,
  acquire: 5,
  release: 3,
  releaseSurplus: 2,
  work: 45,
  complete: 5,
  fail: 12,
  heartbeat: 6,
  progress: 2,
  finish: 4,
  reclaim: 3,
  enqueue: 14,
  promote: 4,
  sweep: 2,
  listDefinitions: 1,
  listExecutions: 1,
  listTasks: 3,
  explain: 4,
  check: 2,
  transaction: 5,
  requestCancel: 3,
  advance: 14,
  ...operatorWeights,
  ...standingWeights,
} as const satisfies Record<Action["do"], number>;

/** Each history has its own taste: what happens seldom in one happens often in another. */
export function chooseTaste(dice: Dice): Taste {
  const entries = Object.entries<number>(weights).map(([kind, weight]) => {
    return [kind, weight * dice.pick([0.2, 1, 1, 3])] as const;
  });
  const isShared = dice.percent(25);
  return {
    definitions: ["alpha", "beta", "gamma"].slice(0, dice.int(isShared ? 2 : 1, 3)),
    isLossy: dice.percent(40),
    isShared,
    sharedLimits: dice.pick([[], ["partner"], ["partner"], ["partner", "Partner"]]),
    weights: Object.fromEntries(entries) as Taste["weights"],
  };
}

/** The next call; histories begin with a definition. */
export function chooseAction(dice: Dice, known: Knowledge): Action {
  const missing = known.taste.definitions.length - known.definitions.size;
  if (known.definitions.size === 0 || dice.percent(15 * missing)) return register(dice, known);
  const reaction = react(dice, known);
  if (reaction !== undefined) return reaction;
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const action = chooseOfKind(dice, known, dice.weighted(known.taste.weights));
    if (action !== undefined) return action;
  }
  return { do: "check" };
}

/** The likely next call of a party: without it, most histories would soon stand still. */
function react(dice: Dice, known: Knowledge): Action | undefined {
  const { isLossy } = known.taste;
  const isIdle = known.executions.every((execution) => execution.isOver);
  if (known.foundPaused !== undefined && dice.percent(50)) {
    return { do: "resume", definition: known.foundPaused };
  }
  if (known.lastAdvanceMs > 1_000 && dice.percent(isLossy ? 90 : 40)) {
    return { do: "reclaim", max: dice.int(1, 3) };
  }
  if (isIdle && dice.percent(35)) {
    return start(dice, known, dice.pick([...known.definitions.values()]));
  }
  if (isLossy && dice.percent(known.hasJustClaimed ? 35 : 4)) return { do: "advance", ms: 5_001 };
  return undefined;
}

/** One of a kind; undefined: it needs something that isn't there yet. */
export function chooseOfKind(dice: Dice, known: Knowledge, kind: Action["do"]): Action | undefined {
  const definition = dice.pick([...known.definitions.values()]);
  if (isOperatorKind(kind)) return chooseOperatorAction(dice, known, { kind, definition });
  if (isStandingKind(kind)) {
    const newTask = (): EnqueuedTask => chooseTask(dice, known.taste, false);
    return chooseStandingAction(dice, known, { kind, definition, newTask });
  }
  const execution = chooseExecution(dice, known);
  switch (kind) {
    case "register":
      return register(dice, known);
    case "setLimit":
    case "pause":
    case "resume":
    case "promote":
      return operate(dice, known, { kind, definition: definition.name });
    case "start":
      return start(dice, known, definition);
    case "enqueue":
      return enqueue(dice, known, definition);
    case "transaction":
      return transaction(dice, known, definition);
    case "heartbeat":
      return heartbeat(dice, known);
    case "sweep":
    case "reclaim":
      return { do: kind, max: dice.int(1, 3) };
    case "listDefinitions":
    case "listExecutions":
    case "listTasks":
    case "check":
      return list(dice, kind, definition.name);
    case "explain":
    case "requestCancel": {
      const claimed = known.executions.flatMap(({ claims }) => claims.map((claim) => claim.task));
      const task = dice.pickAny(dice.percent(50) ? claimed : known.tasks);
      return task === undefined ? undefined : { do: kind, task };
    }
    case "advance":
      return { do: "advance", ms: chooseMs(dice, definition) };
    case "acquire":
    case "release":
    case "releaseSurplus":
    case "work":
    case "complete":
    case "fail":
    case "progress":
    case "finish":
      return execution === undefined ? undefined : act(dice, known, { kind, execution });
  }
}

/** Mostly one that lives. */
function chooseExecution(dice: Dice, known: Knowledge): KnownExecution | undefined {
  const live = known.executions.filter((execution) => !execution.isOver);
  const busy = live.filter((execution) => execution.claims.length > 0);
  const rest = dice.percent(90) ? live : known.executions;
  return dice.pickAny(dice.percent(40) && busy.length > 0 ? busy : rest);
}

/** Instants meet when delays do: few lengths, and those of leases to the millisecond. */
function chooseMs(dice: Dice, definition: KnownDefinition): number {
  const { leaseMs } = definition.settings;
  if (dice.percent(30)) return leaseMs + dice.int(0, 1);
  return dice.pick([1, 100, 250, 500, 500, 1_000, 2_000]);
}

function register(dice: Dice, known: Knowledge): Action {
  const definition = dice.pick(known.taste.definitions);
  const before = known.definitions.get(definition);
  if (before !== undefined && dice.percent(25)) {
    const { build, hash, settings } = before;
    return { do: "register", definition, build: build - dice.int(0, 1), hash, settings };
  }
  const build = (before?.build ?? 0) + 1;
  return {
    do: "register",
    definition,
    build,
    hash: `hash ${String(build)}`,
    settings: settings(dice, known.taste),
  };
}

function settings(dice: Dice, { sharedLimits }: Taste): DefinitionSettings {
  return {
    limit: dice.pick([1, 2, 2, 3, null]),
    leaseMs: dice.pick([1_000, 2_000, 5_000]),
    retryAttempts: dice.int(1, 3),
    lostMax: dice.pick([0, 1, 3, 3]),
    // Without a base there is no back-off, and so no chance in it.
    retryBaseMs: 0,
    retryCapMs: dice.pick([0, 1_000]),
    prefetchMax: dice.int(0, 2),
    groupSlots: dice.int(1, 2),
    groupStrict: dice.percent(40),
    retainDoneMs: dice.pick([0, 604_800_000]),
    retainDeadMs: dice.pick([0, 2_592_000_000]),
    ...chooseSharedSettings(dice, sharedLimits),
  };
}

function operate(
  dice: Dice,
  known: Knowledge,
  asked: { kind: "setLimit" | "pause" | "resume" | "promote"; definition: string },
): Action {
  const { kind, definition } = asked;
  if (kind === "promote") return { do: kind, definition, max: dice.int(1, 5) };
  if (kind !== "setLimit") return { do: kind, definition };
  const earlier = dice.percent(20) ? repeat(dice, known, "setLimit") : undefined;
  if (earlier !== undefined) return earlier;
  const limit = dice.pick([0, 1, 2, 3, null, "code", "code"] as const);
  return { do: kind, definition, limit, operation: known.newOperation() };
}

/** An earlier call with its operation id again. */
function repeat<Kind extends "setLimit" | "start" | "enqueue">(
  dice: Dice,
  known: Knowledge,
  kind: Kind,
): Action | undefined {
  const earlier = dice.pickAny(known.repeatable.filter((call) => call.do === kind));
  if (earlier === undefined) return undefined;
  // Now and then by another party's mistake.
  const definition = dice.percent(10)
    ? dice.pick([...known.definitions.keys()])
    : earlier.definition;
  return { ...earlier, definition };
}

function start(dice: Dice, known: Knowledge, definition: KnownDefinition): Action {
  const earlier = dice.percent(12) ? repeat(dice, known, "start") : undefined;
  if (earlier !== undefined) return earlier;
  return {
    do: "start",
    definition: dice.percent(3) ? "omega" : definition.name,
    operation: known.newOperation(),
    worker: dice.pick(["worker 1", "worker 2"]),
    build: Math.max(0, definition.build + (dice.percent(90) ? 0 : dice.pick([1, -1]))),
    hash: dice.percent(30) ? null : definition.hash,
    want: dice.int(1, 3),
    needsReady: dice.percent(60),
  };
}

function enqueue(dice: Dice, known: Knowledge, definition: KnownDefinition): Action {
  const earlier = dice.percent(12) ? repeat(dice, known, "enqueue") : undefined;
  return earlier ?? newEnqueue(dice, known, definition);
}

function newEnqueue(dice: Dice, known: Knowledge, definition: KnownDefinition): EnqueueCall {
  const count = dice.pick([1, 1, 1, 2, 3, 5]);
  const wave = dice.percent(40) ? dice.pickAny(known.batches.at(-1)?.waves ?? []) : undefined;
  const chosen = Array.from({ length: count }, () =>
    chooseTask(dice, known.taste, wave !== undefined),
  );
  // Those that differ in their payloads alone go to the database in another form.
  const tasks = count === 3 ? chosen.map(({ payload }) => alike(chosen[0], payload)) : chosen;
  return {
    do: "enqueue",
    definition: definition.name,
    build: Math.max(0, definition.build + dice.pick([0, 0, 0, 1])),
    tasks,
    operation: dice.percent(40) ? known.newOperation() : null,
    ...(wave === undefined ? {} : { wave }),
  };
}

function alike(task: EnqueuedTask | undefined, payload: string | null): EnqueuedTask {
  return { ...task, payload: payload ?? "{}" };
}

/** Those of a wave begin when it opens. */
function chooseTask(dice: Dice, { isShared }: Taste, isBlocked: boolean): EnqueuedTask {
  const runsLater = !isBlocked && dice.percent(35);
  const isByDelay = runsLater && dice.percent(60);
  const hasKey = dice.percent(30);
  return {
    payload: dice.pick(payloads),
    ...(dice.percent(25) ? { kind: dice.pick(["import", "Export"]) } : {}),
    ...(dice.percent(40) ? { priority: dice.pick([-1, 5, 100, 200]) } : {}),
    ...(dice.percent(isShared ? 90 : 50) ? newGroup(dice, isShared) : {}),
    ...(isByDelay ? { runInMs: dice.pick([0, 1, 500, 1_000, 2_000]) } : {}),
    ...(runsLater && !isByDelay ? { runAtMs: dice.int(-1, 40) * 500 } : {}),
    ...(hasKey ? { dedupeKey: dice.pick(dedupeKeys) } : {}),
    ...(hasKey && dice.percent(40) ? { dedupeMs: dice.pick([1, 1_000, 5_000]) } : {}),
    ...(hasKey && dice.percent(25) ? { onDuplicate: "replace" as const } : {}),
    ...(dice.percent(10)
      ? { traceParent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" }
      : {}),
  };
}

function newGroup(dice: Dice, isShared: boolean): Pick<EnqueuedTask, "group" | "groupScope"> {
  const group = dice.pick(groupKeys);
  return dice.percent(isShared ? 95 : 45) ? { group, groupScope: "global" } : { group };
}

function transaction(dice: Dice, known: Knowledge, definition: KnownDefinition): Action {
  const execution = chooseExecution(dice, known);
  const claim = dice.pickAny(execution?.claims ?? []);
  const completes = execution !== undefined && claim !== undefined && dice.percent(60);
  const enqueues = Array.from({ length: dice.int(completes ? 0 : 1, 2) }, () =>
    newEnqueue(dice, known, definition),
  );
  const newTask = (): EnqueuedTask => chooseTask(dice, known.taste, false);
  const advances = dice.percent(20) ? [advanceWatermark(dice, known, { definition, newTask })] : [];
  return {
    do: "transaction",
    calls: [
      ...enqueues,
      ...advances,
      ...(completes ? [completion(dice, execution, claim)] : []),
    ].map((call, index) => ({ id: String(index), ...call })),
    ends: dice.percent(70) ? "commit" : "rollback",
  };
}

function completion(dice: Dice, { name: execution }: KnownExecution, { task, fence }: ClaimRef) {
  const result = dice.pick(results);
  return { do: "complete", execution, task, fence, durationMs: dice.int(0, 9), result } as const;
}

function heartbeat(dice: Dice, known: Knowledge): Action | undefined {
  const live = known.executions.filter((execution) => !execution.isOver);
  const asked = dice.some(dice.percent(80) ? live : known.executions, 60).slice(0, 4);
  if (asked.length === 0) return undefined;
  return {
    do: "heartbeat",
    beats: asked.map(({ name, claims }) => ({
      execution: name,
      started: dice
        .some(
          claims.filter((claim) => claim.isPrefetched),
          40,
        )
        .map(({ task }) => task),
    })),
  };
}

function list(
  dice: Dice,
  kind: "listDefinitions" | "listExecutions" | "listTasks" | "check",
  definition: string,
): Action {
  switch (kind) {
    case "check":
      return { do: kind };
    case "listTasks":
      return {
        do: kind,
        definition,
        state: dice.pick(listableStates),
        max: dice.pick([1, 3, 100]),
      };
    case "listDefinitions":
      return { do: kind, ...(dice.percent(50) ? { definition } : {}) };
    case "listExecutions":
      return {
        do: kind,
        ...(dice.percent(50) ? { definition } : {}),
        isOpen: dice.percent(50),
        max: dice.pick([1, 100]),
      };
  }
}

type ExecutionsKind =
  | "acquire"
  | "release"
  | "releaseSurplus"
  | "work"
  | "complete"
  | "fail"
  | "progress"
  | "finish";

function act(
  dice: Dice,
  known: Knowledge,
  { kind, execution }: { kind: ExecutionsKind; execution: KnownExecution },
): Action | undefined {
  const { name } = execution;
  const claim = dice.pickAny(refs(dice, execution));
  switch (kind) {
    case "acquire":
      return { do: kind, execution: name, want: dice.int(1, 3) };
    case "release":
      return { do: kind, execution: name, keep: dice.int(0, 2) };
    case "releaseSurplus":
      return { do: kind, execution: name, keep: dice.int(0, 2) };
    case "finish":
      return { do: kind, execution: name };
    case "work":
      return work(dice, execution);
    case "complete":
      return claim === undefined ? undefined : completion(dice, execution, claim);
    case "progress":
      return claim === undefined ? undefined : progress(dice, name, claim);
    case "fail": {
      const failures = dice.some(refs(dice, execution), 60).slice(0, 4);
      const isFree = known.definitions.get(execution.definition)?.settings.retryBaseMs === 0;
      if (failures.length === 0) return undefined;
      return {
        do: kind,
        execution: name,
        failures: failures.map((ref) => fail(dice, ref, isFree)),
      };
    }
  }
}

/** Each task once: held ones, now and then earlier ones. */
function refs(dice: Dice, execution: KnownExecution): ClaimRef[] {
  const past = dice.percent(15) ? execution.past.slice(-2) : [];
  const all = [...past, ...execution.claims];
  return all
    .filter(({ task }, index) => all.findLastIndex((other) => other.task === task) === index)
    .map(({ task, fence }) => ({ task, fence }));
}

function work(dice: Dice, execution: KnownExecution): Action {
  const { lastWork, last, claims, callNumber, name } = execution;
  if (lastWork !== undefined && dice.percent(8)) {
    return dice.percent(80) ? lastWork : { ...lastWork, callNumber: Math.max(1, callNumber - 1) };
  }
  const done = dice.some(refs(dice, execution), 50);
  const running = claims.filter(({ task }) => !done.some((ref) => ref.task === task));
  const started = dice.some(
    running.filter((claim) => claim.isPrefetched),
    40,
  );
  const after = dice.percent(15) ? last : undefined;
  return {
    do: "work",
    execution: name,
    callNumber: callNumber + 1,
    done: done.map((ref) => ({ ...ref, durationMs: dice.int(0, 9), result: dice.pick(results) })),
    started: started.map(({ task }) => task),
    want: dice.int(0, 4),
    ...(after === undefined ? {} : { after }),
  };
}

function progress(dice: Dice, execution: string, { task, fence }: ClaimRef): Action {
  const done = dice.pick([null, 0, 7]);
  const total = dice.pick([null, 10]);
  const text = dice.pick([null, ...texts]);
  return { do: "progress", execution, task, fence, done, total, text };
}

function fail(dice: Dice, ref: ClaimRef, isFree: boolean): FailureRef {
  const as = dice.pick(["failed", "failed", "failed", "dead", "cancelled", "continued"] as const);
  const waits = dice.pick([0, 1, 500, 1_000, 2_000]);
  return {
    ...ref,
    as,
    error: dice.pick([null, ...texts]),
    retryInMs: isFree && dice.percent(40) ? null : waits,
    durationMs: dice.pick([null, 5]),
    checkpoint: as === "continued" ? dice.pick([null, '{"at":3}', "[3]"]) : null,
  };
}
