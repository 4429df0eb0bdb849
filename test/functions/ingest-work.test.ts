import { getEventListeners } from "node:events";
import { expect, jest, test } from "@jest/globals";
import { IngestWork } from "../../shared/functions/ingest-work";
import type { Runtime } from "../../shared/functions/runtime";
import { defineTask } from "../../shared/worker/define/define-task";
import { createRegistry } from "../../shared/worker/define/registry";
import { taskRequest } from "../../shared/worker/define/task-ref";
import { IdleExecutions } from "../../shared/worker/run/idle-executions";
import { InvocationWork } from "../../shared/worker/run/invocation-work";
import type { ExecutionBounds } from "../../shared/worker/run/run-worker";
import { openWorkerBench } from "../unit/worker/worker-bench";

test("invocations of ingest leave nothing at the signal that tells the process to end", async () => {
  const any = jest.spyOn(AbortSignal, "any");
  let ran = 0;
  const kind = defineTask({ name: "one", run: async () => void (ran += 1) });
  const bench = openWorkerBench([kind]);
  const registry = createRegistry([kind]);
  const process = new AbortController();
  const worker = {
    ...{ environment: bench.environment, registry, heartbeat: bench.heartbeat },
    ...{ concurrencyPerWorker: 4, idleReads: 0, idlePauseMs: 1 },
  };
  const bounds: ExecutionBounds = {
    deadlineMs: Number.MAX_SAFE_INTEGER,
    marginMs: 0,
    signal: new AbortController().signal,
    draining: process.signal,
  };
  const others = { idle: new IdleExecutions(), servesOthers: true, onTrouble: () => undefined };
  const runtime = {
    environment: bench.environment,
    registry,
    bounds: () => bounds,
    work: (bounds: ExecutionBounds) => new InvocationWork({ worker, bounds, ...others }),
  } as unknown as Runtime;
  for (let calls = 0; calls < 10; calls += 1) {
    const work = new IngestWork({ tracked: (body) => body(runtime) });
    await work.enqueue([taskRequest(kind, {})]);
    expect(getEventListeners(process.signal, "abort")).toHaveLength(1);
    await work.settled();
    expect(getEventListeners(process.signal, "abort")).toEqual([]);
  }
  expect(ran).toBe(10);
  expect(any).not.toHaveBeenCalled();
  any.mockRestore();
});
