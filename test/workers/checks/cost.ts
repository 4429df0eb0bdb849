import type { StatementCall } from "../database";
import type { Check, World } from "../watch";

/**
 * Flat cost, as far as it can be seen from here: the number of statements follows from executions, tasks and time, never from how
 * much waits. (What a statement reads is counted elsewhere: npm run costs:tsql.)
 * Quiet when idle: with nothing to do only a tick's one read reaches the database.
 */
export function checkCost(world: World): Check {
  const counts = new Map<string, number>();
  return {
    after: (call: StatementCall) => {
      counts.set(call.operation, (counts.get(call.operation) ?? 0) + 1);
    },
    settled: () => {
      const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
      const executionMs = world.executions.reduce(
        (sum, execution) => sum + ((execution.endedMs ?? execution.deadlineMs) - execution.beganMs),
        0,
      );
      // Per execution its ask and its end, per task its claim, its end and its children; a few looks a second while tokens idle.
      const max = 100 + 2 * world.executions.length + 4 * world.begun + executionMs / 400;
      if (all > max)
        world.violate(
          "flat cost",
          `${String(all)} statements for ${String(world.begun)} tasks in ${String(world.executions.length)} executions, expected at most ${max.toFixed(0)}: ${JSON.stringify(Object.fromEntries(counts))}`,
        );
    },
    idle: (statements, ticks) => {
      const others = statements.filter((call) => call.operation !== "sweep");
      if (others.length > 0 || statements.length > ticks)
        world.violate(
          "quiet when idle",
          `${String(statements.length)} statements in ${String(ticks)} ticks with nothing to do: ${statements
            .slice(0, 5)
            .map((call) => `${call.operation} of ${call.host?.name ?? "a person"}`)
            .join(", ")}`,
        );
    },
  };
}

/** In time: an invocation that wasn't held up returns before its deadline. */
export function checkDeadline(world: World): Check {
  return {
    deadline: (execution) => {
      if (
        execution.endedMs === null &&
        !execution.host.isDead &&
        !execution.host.wasHeldUp(execution.beganMs)
      )
        world.violate(
          "in time",
          `the worker of ${execution.definition} on ${execution.host.name} is still there at its deadline`,
        );
    },
  };
}
