import { until } from "../../support/gate";
import { describe, expect, test } from "@jest/globals";
import { asTaskId } from "../../../shared/core/ids";
import { limits } from "../../../shared/core/limits";
import { ProcessGate } from "../../../shared/worker/run/process-gate";
import type { GateMember } from "../../../shared/worker/run/process-gate";
import { nodeTimers } from "../../../shared/platform/node-timers";
import { realClock, realRandom, sleep } from "../../../shared/platform/real-clock";
import { MemoryTaskStore } from "../../../shared/testing/memory-store/memory-task-store";
import { defineTask } from "../../../shared/worker/define/define-task";
import { Heartbeat } from "../../../shared/worker/run/heartbeat";
import { createRegistry } from "../../../shared/worker/define/registry";
import { runWorker } from "../../../shared/worker/run/run-worker";
import { VirtualTime } from "../../workers/virtual-time";
import { openWorkerBench } from "./worker-bench";
import type { AnyTaskKind } from "../../../shared/worker/define/task-kind";

const suspect = asTaskId("7");
const other = asTaskId("8");

interface Party extends GateMember {
  isQuiet: boolean;
  looks: number;
}

function openGate() {
  const time = new VirtualTime();
  const gate = new ProcessGate(time.parts);
  const join = (isQuiet: boolean): Party & { leave: () => void } => {
    const party = { isQuiet, looks: 0, look: () => void (party.looks += 1) };
    return Object.assign(party, { leave: gate.join(party) });
  };
  return { gate, join, time };
}

describe("the gate of a process", () => {
  test("the gate of a process lets a suspect run at once when nothing else runs, and no other execution claims meanwhile", () => {
    const { gate, join } = openGate();
    const [first, second] = [join(false), join(true)];
    expect(gate.ask(first, suspect)).toBe("run");
    expect(gate.mayClaim(first)).toBe(true);
    expect(gate.mayClaim(second)).toBe(false);
    gate.end(first);
    expect(gate.mayClaim(second)).toBe(true);
    expect(second.looks).toBeGreaterThan(0);
  });

  test("the gate of a process lets it wait until the others have told all they did", () => {
    const { gate, join } = openGate();
    const [first, second] = [join(false), join(false)];
    expect(gate.ask(first, suspect)).toBe("wait");
    gate.note();
    expect(gate.ask(first, suspect)).toBe("wait");
    second.isQuiet = true;
    gate.note();
    expect(first.looks).toBe(1);
    expect(gate.ask(first, suspect)).toBe("run");
  });

  test("the gate of a process sends a second suspect away: claimed and waiting it would be lost with the first", () => {
    const { gate, join } = openGate();
    const [first, second] = [join(false), join(false)];
    gate.ask(first, suspect);
    expect(gate.ask(second, other)).toBe("later");
  });

  test("the gate of a process opens when the one that had the turn is gone", () => {
    const { gate, join } = openGate();
    const [first, second] = [join(false), join(true)];
    gate.ask(first, suspect);
    first.leave();
    expect(gate.mayClaim(second)).toBe(true);
  });

  test("the gate of a process holds up the others for the wait and no longer, then lets them claim for twice as long", async () => {
    const { gate, join, time } = openGate();
    const [first, second] = [join(false), join(false)];
    gate.ask(first, suspect);
    await time.run(limits.aloneWaitMs - 1);
    expect(gate.mayClaim(second)).toBe(false);
    await time.run(limits.aloneWaitMs);
    expect(gate.mayClaim(second)).toBe(true);
    expect(gate.ask(first, suspect)).toBe("later");
    await time.run(limits.aloneWaitMs + limits.aloneRetryMs);
    expect(gate.ask(first, suspect)).toBe("wait");
  });

  test("the gate of a process opens for the others when a suspect has run alone for its time", async () => {
    const { gate, join, time } = openGate();
    const [first, second] = [join(false), join(true)];
    gate.ask(first, suspect);
    await time.run(limits.aloneRunMs - 1);
    expect(gate.mayClaim(second)).toBe(false);
    await time.run(limits.aloneRunMs);
    expect(gate.mayClaim(second)).toBe(true);
  });

  test("the gate of a process lets a suspect run beside the others after so many waits in vain", async () => {
    const { gate, join, time } = openGate();
    const first = join(false);
    join(false);
    for (let turn = 0; turn < limits.aloneTurnsMax; turn += 1) {
      expect(gate.ask(first, suspect)).toBe("wait");
      await time.run(time.nowMs + limits.aloneWaitMs + limits.aloneRetryMs);
    }
    expect(gate.ask(first, suspect)).toBe("run");
  });
});

test("a task that was lost twice runs beside no task of another definition in its process", async () => {
  let running = 0;
  let ended = 0;
  let endedBefore = 0;
  const seen: number[] = [];
  const neighbour = defineTask({
    name: "neighbour",
    limit: 2,
    run: async () => {
      running += 1;
      await sleep(20);
      running -= 1;
      ended += 1;
    },
  });
  const culprit = defineTask({
    name: "culprit",
    leaseMs: 1_000,
    run: async () => {
      endedBefore = ended;
      seen.push(running);
      await sleep(60);
      seen.push(running);
    },
  });
  const kinds: AnyTaskKind[] = [neighbour, culprit];
  let aheadMs = 0;
  const store = new MemoryTaskStore({
    clock: { now: () => realClock.nowMs() + aheadMs },
    random: realRandom,
  });
  const bench = openWorkerBench(kinds, { store });
  await bench.client.enqueue(culprit, {});
  for (let loss = 0; loss < 2; loss += 1) {
    const { executionId } = await store.startExecution({
      ...{ name: "culprit", build: 1, want: 1, needsReady: true, worker: "lost" },
      settingsHash: culprit.definition.settingsHash,
      operationId: realRandom.uuid(),
    });
    if (executionId === null) throw new Error("no token");
    await store.work({ executionId, callNumber: 1, done: [], started: [], want: 1 });
    aheadMs += 2_000;
    await store.reclaimExpired({ max: 10 });
  }
  const gate = new ProcessGate({ clock: realClock, timers: nodeTimers });
  const heartbeat = new Heartbeat(bench.environment);
  const work = (name: string) =>
    runWorker(
      {
        ...{ environment: bench.environment, registry: createRegistry(kinds), heartbeat, gate },
        ...{ concurrencyPerWorker: 8, idleReads: 1, idlePauseMs: 5 },
      },
      name,
      {
        deadlineMs: realClock.monotonicMs() + 10_000,
        marginMs: 100,
        signal: new AbortController().signal,
      },
    );
  for (let at = 0; at < 40; at += 1) await bench.client.enqueue(neighbour, { at });
  const working = work("neighbour");
  await until("both neighbours run", () => Promise.resolve(running === 2));
  await Promise.all([working, work("culprit")]);
  expect(seen).toEqual([0, 0]);
  // They made room for it long before they had nothing left to do.
  expect(endedBefore).toBeLessThan(30);
  const left = await store.listTasks({ name: "neighbour", state: "ready", max: 10 });
  expect(left.tasks).toEqual([]);
});
