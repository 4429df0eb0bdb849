import type { StartExecutionAnswer, StartExecutionInput } from "../../../shared/ports/task-store";
import { findDefinition } from "../../../shared/testing/memory-store/rows";
import type { DefinitionRow } from "../../../shared/testing/memory-store/state";
import { asExecutionNumber } from "../../../shared/core/ids";
import { boundsOf, holdersOf } from "../bounds";
import { isLeaseLive } from "../watch";
import type { Check, World } from "../watch";

/** No waiting: a call is answered at the instant of its arrival, independent of other calls. */
export function checkWaiting(world: World): Check {
  return {
    after: (call) => {
      const waitedMs = world.time.nowMs - call.arrivedMs;
      if (waitedMs > 0)
        world.violate(
          "no waiting",
          `${call.operation} of ${call.host?.name ?? "a person"} waited ${waitedMs.toFixed(1)} ms for others`,
        );
    },
  };
}

/** For this time, and half of the time since the denial, given tokens are not for a process that holds some. */
const reservedLeastMs = 100;
const reservedMaxMs = 2_000;

/**
 * First come, first served: an asker gets a free token, also after denials of others and before their next call. The
 * exception is a process that holds some while the free ones were given for others.
 */
export function checkFairness(world: World): Check {
  let free = 0;
  let wasForOthers = false;
  const countFree = (name: string): number => {
    const { rows } = world.database;
    const definition = findDefinition(rows, name);
    if (definition === undefined || definition.isPaused) return 0;
    const free = boundsOf(world, definition).map((bound) => {
      const held = holdersOf(bound).filter((holder) =>
        isLeaseLive(world, asExecutionNumber(holder)),
      );
      return bound.limit - held.length;
    });
    return Math.min(Number.POSITIVE_INFINITY, ...free);
  };
  /** Tokens of its dead executions count, too, until another ask frees them. */
  const isHolder = (definition: DefinitionRow, worker: string): boolean => {
    const holders = new Set(boundsOf(world, definition).flatMap(holdersOf));
    return [...world.database.rows.executions.values()].some(
      (row) =>
        row.worker === worker &&
        row.definitionId === definition.definitionId &&
        holders.has(row.executionId),
    );
  };
  const isForOthers = (name: string, worker: string): boolean => {
    const { rows, nowMs } = world.database;
    const definition = findDefinition(rows, name);
    if (definition === undefined || !isHolder(definition, worker)) return false;
    return boundsOf(world, definition).some(({ row: { deniedAtMs, givenAtMs } }) => {
      const reservedMs = Math.min(reservedLeastMs + (givenAtMs - deniedAtMs) / 2, reservedMaxMs);
      return deniedAtMs <= givenAtMs && givenAtMs > nowMs - reservedMs;
    });
  };
  return {
    before: (call) => {
      if (call.operation !== "startExecution") return;
      const { name, worker } = call.input as StartExecutionInput;
      free = countFree(name);
      // The ask itself may free the tokens of a dead execution: for the next one.
      wasForOthers = isForOthers(name, worker);
    },
    after: (call, answer) => {
      if (call.operation !== "startExecution") return;
      const { name, operationId } = call.input as StartExecutionInput;
      const { status } = answer as StartExecutionAnswer;
      // A repeat of an ask whose execution is over by now gets no other one.
      const isRepeat = [...world.database.rows.executions.values()].some(
        (row) => row.operationId === operationId,
      );
      if (status === "limited" && free > 0 && !isRepeat && !wasForOthers)
        world.violate(
          "first come, first served",
          `${call.host?.name ?? "a person"} was denied although ${String(free)} tokens of ${name} were free`,
        );
    },
  };
}
