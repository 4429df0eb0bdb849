import { expect, test } from "@jest/globals";
import { asExecutionId, asFence, asTaskId } from "../../../shared/core/ids";
import { createRegistry } from "../../../shared/worker/define/registry";
import { defineTask } from "../../../shared/worker/define/define-task";
import { RunningCount } from "../../../shared/core/running-count";
import { RunningTasks } from "../../../shared/worker/run/running-tasks";
import type { ClaimedTask } from "../../../shared/ports/task-store";
import { createGate, until } from "../../support/gate";
import { openWorkerBench } from "./worker-bench";

/*
 * Goal: a database that lost commits gives a task a second time to the execution that still runs it; each of the two runs counts as
 * one on a token until it has settled, and the first one is told to stop.
 */
test("two runs of one task are two handlers on tokens, and the first one hears that its claim is forgotten", async () => {
  const gates = [createGate(), createGate()];
  const reasons: unknown[] = [];
  let begun = 0;
  const ship = defineTask({
    name: "ship",
    run: async (_, ctx) => {
      const gate = gates[begun++];
      ctx.signal.addEventListener("abort", () => reasons.push(String(ctx.signal.reason)));
      await gate?.opened;
    },
  });
  const { environment } = openWorkerBench([ship]);
  const count = new RunningCount();
  const running = new RunningTasks({
    count,
    ...{ environment, executionId: asExecutionId("1"), registry: createRegistry([ship]) },
    ...{ definition: "ship", timeLeftMs: () => 60_000, onStuck: () => undefined, leaseMs: 60_000 },
  });
  const claim = (fence: string): ClaimedTask => ({
    ...{ taskId: asTaskId("60"), fence: asFence(fence), kind: "ship", attempt: 1, payload: null },
    ...{ checkpoint: null, traceParent: null, priority: 100, rank: "0", isPrefetched: false },
    ...{ isCancelRequested: false, isSuspect: false, isGrouped: false, isInWave: false },
    isFromNewerBuild: false,
  });
  const ends = [running.start(claim("38"))];
  await until("the first one has begun", () => begun === 1);
  ends.push(running.start(claim("38")));
  await until("the second one has begun", () => begun === 2);
  expect([running.size, count.cell[0]]).toEqual([2, 2]);
  gates[1]?.open();
  expect((await ends[1])?.isLost).toBe(false);
  expect([running.size, count.cell[0]]).toEqual([1, 1]);
  expect(reasons).toEqual([expect.stringContaining("the database has forgotten this claim")]);
  gates[0]?.open();
  expect((await ends[0])?.isLost).toBe(false);
  expect(running.size).toBe(0);
});
