import type { DefinitionSettings, SharedLimitUse } from "../../../shared/ports/task-store";
import type { Dice } from "../../support/dice";
import type { Action } from "./call";
import type { EnqueuedTask } from "./new-tasks";
import type { Knowledge, KnownDefinition } from "./knowledge";
import type { AdvanceWatermarkCall, SetSchedule, StandingAction } from "./standing-call";
import type { KnownSchedule } from "./standing-knowledge";

/** How often each kind is made. */
export const standingWeights = {
  setSchedules: 3,
  setSchedulePaused: 2,
  fireSchedule: 7,
  listSchedules: 1,
  advanceWatermark: 4,
  setWatermark: 2,
  listWatermarks: 1,
  setSharedLimit: 3,
  listSharedLimits: 2,
} as const satisfies Record<StandingAction["do"], number>;

const kinds = new Set<string>(Object.keys(standingWeights));

const scheduleNames = ["hourly", "nightly", "Nightly"] as const;
const crons = ["0 * * * *", "30 2 * * *"] as const;
const zones = ["UTC", "Europe/Zurich"] as const;
const watermarkNames = ["files", "Files"] as const;
const values = ["{}", '{"upTo":3}', "[7]", '{"text":"ä€😀 \\" \\\\ "}'] as const;

/** Whether it is one of these. */
export function isStandingKind(kind: Action["do"]): kind is StandingAction["do"] {
  return kinds.has(kind);
}

/** undefined: it needs something that isn't there yet. */
export function chooseStandingAction(
  dice: Dice,
  known: Knowledge,
  asked: {
    kind: StandingAction["do"];
    definition: KnownDefinition;
    newTask: () => EnqueuedTask;
  },
): StandingAction | undefined {
  const { kind, definition, newTask } = asked;
  const only = dice.percent(50) ? { definition: definition.name } : {};
  switch (kind) {
    case "setSchedules":
      return setSchedules(dice, known, definition);
    case "setSchedulePaused":
      return setSchedulePaused(dice, known, definition);
    case "fireSchedule":
      return fireSchedule(dice, known);
    case "advanceWatermark":
      return advanceWatermark(dice, known, { definition, newTask });
    case "setWatermark":
      return setWatermark(dice, known, definition);
    case "setSharedLimit":
      return setSharedLimit(dice, known);
    case "listSchedules":
    case "listWatermarks":
      return { do: kind, ...only, max: dice.pick([1, 100]) };
    case "listSharedLimits":
      return { do: kind, max: dice.pick([1, 100]) };
  }
}

/** What a definition draws from and how fast it may start: most worlds have one shared limit, some two, some none. */
export function chooseSharedSettings(
  dice: Dice,
  sharedLimits: readonly string[],
): Pick<DefinitionSettings, "rate" | "sharedLimits"> {
  const used = dice.some(sharedLimits, 75).map((name): SharedLimitUse => {
    const limit = dice.pick(["as it is", 1, 2, 3, null] as const);
    return limit === "as it is" ? { name } : { name, limit };
  });
  const isRated = dice.percent(15);
  return {
    ...(used.length === 0 ? {} : { sharedLimits: used }),
    ...(isRated ? { rate: { count: 2, periodMs: 1_000, burst: dice.int(1, 2) } } : {}),
  };
}

function setSchedules(dice: Dice, known: Knowledge, definition: KnownDefinition): StandingAction {
  const schedules = dice.some(scheduleNames, 60).map((name): SetSchedule => ({
    name,
    kind: dice.pick([definition.name, "import"]),
    cron: dice.pick(crons),
    timeZone: dice.pick(zones),
    missed: dice.pick(["skip", "once", "all"]),
    payload: dice.pick([null, "{}", '{"n":1}']),
    group: dice.pick([null, "blue"]),
    nextRunAtMs: dice.percent(10) ? null : soon(dice, known),
  }));
  const build = Math.max(0, definition.build + dice.pick([0, 0, 0, 0, 1, -1]));
  return { do: "setSchedules", definition: definition.name, build, schedules };
}

/** Mostly a little later, sometimes past: due at once. */
function soon(dice: Dice, { nowMs }: Knowledge): number {
  return nowMs + dice.pick([-500, 0, 1, 500, 500, 1_000, 2_000]);
}

function setSchedulePaused(
  dice: Dice,
  known: Knowledge,
  definition: KnownDefinition,
): StandingAction {
  const schedule = dice.pickAny(known.standing.schedules);
  const paused = dice.percent(45);
  const nextRunAtMs = dice.percent(10) ? null : soon(dice, known);
  const which = { definition: definition.name, schedule: dice.pick(scheduleNames) };
  const found = schedule && { definition: schedule.definition, schedule: schedule.ownName };
  return {
    do: "setSchedulePaused",
    ...(dice.percent(90) ? (found ?? which) : which),
    paused,
    nextRunAtMs,
  };
}

/** Mostly one that is due, as its worker would: a task for each instant that was missed, or for the last one, or for none. */
function fireSchedule(dice: Dice, known: Knowledge): StandingAction | undefined {
  const due = known.standing.schedules.filter((row) => isDue(row, known.nowMs));
  const schedule = dice.pickAny(
    due.length > 0 && dice.percent(90) ? due : known.standing.schedules,
  );
  if (schedule === undefined) return undefined;
  const expectedRunAtMs = schedule.nextRunAtMs ?? soon(dice, known);
  const lateMs = Math.max(known.nowMs - expectedRunAtMs, 0);
  const missed = [0, 1, 500, 1_000].filter((ms) => ms <= lateMs).map((ms) => expectedRunAtMs + ms);
  const runAtsMs = dice.some(missed, 70);
  if (dice.percent(5)) runAtsMs.reverse();
  if (dice.percent(4)) runAtsMs.push(known.nowMs + 1);
  const after = Math.max(known.nowMs, expectedRunAtMs, ...runAtsMs);
  const nextRunAtMs = dice.percent(15) ? null : after + dice.pick([0, 1, 500, 500, 1_000]);
  return { do: "fireSchedule", schedule: schedule.name, expectedRunAtMs, runAtsMs, nextRunAtMs };
}

function isDue({ nextRunAtMs, isPaused }: KnownSchedule, nowMs: number): boolean {
  return !isPaused && nextRunAtMs !== null && nextRunAtMs <= nowMs;
}

/** Also in a user's transaction. */
export function advanceWatermark(
  dice: Dice,
  known: Knowledge,
  { definition, newTask }: { definition: KnownDefinition; newTask: () => EnqueuedTask },
): AdvanceWatermarkCall {
  const earlier = dice.percent(12) ? dice.pickAny(known.standing.advances) : undefined;
  if (earlier !== undefined) return earlier;
  const watermark = dice.pick(watermarkNames);
  return {
    do: "advanceWatermark",
    definition: definition.name,
    watermark,
    expectedVersion: versionOf(dice, known, { definition: definition.name, watermark }),
    value: dice.pick(values),
    build: definition.build,
    tasks: Array.from({ length: dice.int(0, 3) }, newTask),
    operation: dice.percent(50) ? known.newOperation() : null,
  };
}

function setWatermark(dice: Dice, known: Knowledge, { name }: KnownDefinition): StandingAction {
  const earlier = dice.percent(12) ? dice.pickAny(known.standing.watermarkCalls) : undefined;
  if (earlier !== undefined) return earlier;
  const watermark = dice.pick(watermarkNames);
  const expectedVersion = versionOf(dice, known, { definition: name, watermark });
  return {
    do: "setWatermark",
    definition: name,
    watermark,
    value: dice.pick([null, ...values]),
    ...(dice.percent(50) ? { expectedVersion } : {}),
    operation: known.newOperation(),
  };
}

/** Mostly as it was read. */
function versionOf(
  dice: Dice,
  known: Knowledge,
  { definition, watermark }: { definition: string; watermark: string },
): string {
  const version = known.standing.versions.get(`${definition} ${watermark}`) ?? "0";
  return dice.percent(85) ? version : String(Number(version) + dice.int(0, 1));
}

/** Now and then one that no definition draws from yet. */
function setSharedLimit(dice: Dice, known: Knowledge): StandingAction {
  const earlier = dice.percent(15) ? dice.pickAny(known.standing.sharedLimitCalls) : undefined;
  if (earlier !== undefined) return earlier;
  return {
    do: "setSharedLimit",
    shared: dice.pick(["partner", ...known.taste.sharedLimits, ...known.taste.sharedLimits]),
    limit: dice.pick([0, 1, 2, 3, null, "code", "code"] as const),
    operation: known.newOperation(),
  };
}
