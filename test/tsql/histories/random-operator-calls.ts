import type { Dice } from "../../support/dice";
import type { Action } from "./call";
import type { Knowledge, KnownDefinition } from "./knowledge";
import type { OperatorAction } from "./operator-call";

/** How often each kind is made. */
export const operatorWeights = {
  cancel: 4,
  redrive: 3,
  redriveFound: 2,
  reschedule: 3,
  setGroup: 4,
  listGroups: 1,
  setRate: 2,
  purge: 2,
  createBatch: 3,
  startBatch: 4,
  pumpBatch: 4,
  resumeBatch: 4,
  cancelBatch: 1,
  listBatches: 2,
} as const satisfies Record<OperatorAction["do"], number>;

const kinds = new Set<string>(Object.keys(operatorWeights));

/** Whether it is one of these. */
export function isOperatorKind(kind: Action["do"]): kind is OperatorAction["do"] {
  return kinds.has(kind);
}

/** undefined: it needs something that isn't there yet. */
export function chooseOperatorAction(
  dice: Dice,
  known: Knowledge,
  { kind, definition }: { kind: OperatorAction["do"]; definition: KnownDefinition },
): OperatorAction | undefined {
  switch (kind) {
    case "cancel":
    case "redrive":
    case "reschedule":
      return onTasks(dice, known, kind);
    case "redriveFound": {
      const outcome = dice.pick(["dead", "cancelled"] as const);
      return { do: kind, definition: definition.name, outcome, max: dice.int(1, 3) };
    }
    case "setGroup":
      return setGroup(dice, definition.name);
    case "setRate": {
      const burst = dice.int(1, 2);
      const rate = dice.pick(["code", null, { count: 2, periodMs: 1_000, burst }] as const);
      return { do: kind, definition: definition.name, rate };
    }
    case "purge":
      // All of it: the order of those due at one instant isn't promised.
      return { do: kind, max: 1_000 };
    case "listGroups":
      return { do: kind };
    default:
      return onBatch(dice, known, kind);
  }
}

/** Lately made ones: of the old ones most have ended. */
function onTasks(
  dice: Dice,
  known: Knowledge,
  kind: "cancel" | "redrive" | "reschedule",
): OperatorAction | undefined {
  const late = dice.percent(70) ? known.tasks.slice(-8) : known.tasks;
  const tasks = [
    ...new Set(Array.from({ length: dice.int(1, 3) }, () => dice.pickAny(late))),
  ].filter((task) => task !== undefined);
  if (tasks.length === 0) return undefined;
  if (kind !== "reschedule") return { do: kind, tasks };
  return { do: kind, tasks, runInMs: dice.pick([0, 1, 500, 1_000]) };
}

function setGroup(dice: Dice, definition: string): OperatorAction {
  return {
    do: "setGroup",
    definition,
    group: dice.pick(["blue", "Blue", "green"]),
    scope: dice.pick(["definition", "global"]),
    ...(dice.percent(50) ? { slots: dice.int(1, 3) } : {}),
    ...(dice.percent(50) ? { paused: dice.percent(35) } : {}),
    ...(dice.percent(25) ? { strict: dice.percent(50) } : {}),
  };
}

function onBatch(
  dice: Dice,
  known: Knowledge,
  kind: Extract<OperatorAction["do"], `${string}Batch` | "listBatches">,
): OperatorAction | undefined {
  if (kind === "createBatch") return createBatch(dice, known);
  if (kind === "listBatches") return { do: kind, max: dice.int(1, 3) };
  const batch = dice.pickAny(known.batches.slice(-2));
  if (batch === undefined) return undefined;
  if (kind === "startBatch") return { do: kind, batch: batch.name, seal: dice.percent(60) };
  if (kind === "pumpBatch") return { do: kind, batch: batch.name, max: dice.int(1, 3) };
  return { do: kind, batch: batch.name };
}

function createBatch(dice: Dice, known: Knowledge): OperatorAction {
  const earlier = dice.percent(15) ? dice.pickAny(known.batchCalls) : undefined;
  return (
    earlier ?? {
      do: "createBatch",
      operation: known.newOperation(),
      waves: dice.int(1, 3),
      failurePolicy: dice.pick(["halt", "halt", "continue", "cancel"]),
    }
  );
}
