import { taskRef } from "../../shared/worker/define/task-ref";
import { LeaseLostError } from "../../shared/core/errors";
import { sleep } from "../../shared/platform/real-clock";
import type { TaskContext } from "../../shared/worker/define/task-context";
import type { FlightEnd, WriteEntry } from "./ledger";
import { machineMs } from "./machine-clock";
import { leaseMs, sideName } from "./plan";
import type { ChaosHandler, ChaosPayload } from "./plan";
import type { Continuation, HandlerResult } from "../../shared/worker/define/task-context";

/** Where a handler runs, and the ledger that it tells its begin and end. */
export interface HandlerPlace {
  readonly host: string;
  readonly write: WriteEntry;
}

/** A task that blocks its process does so for longer than its lease. */
const blockMs = 1.3 * leaseMs;

/** Writes when it begins and ends, and between does what its payload says. */
export function chaosHandler({ host, write }: HandlerPlace): ChaosHandler {
  return async (payload, context) => {
    const { taskId: task, fence, kind, definition } = context;
    const about = { kind, definition, group: payload.group, priority: payload.priority };
    write({ is: "begin", atMs: machineMs(), host, task, fence, about });
    let how: FlightEnd = "threw";
    try {
      await spend(payload, context);
      write({ is: "settling", atMs: machineMs(), task, fence });
      const settled = await settle(payload, context);
      how = settled.how;
      return settled.value;
    } catch (error) {
      if (error instanceof LeaseLostError) how = "gone";
      throw error;
    } finally {
      write({ is: "end", atMs: machineMs(), task, fence, how });
    }
  };
}

async function spend({ way, ms, isStubborn }: ChaosPayload, context: TaskContext): Promise<void> {
  if (way === "block" && context.attempt === 1)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, blockMs);
  if (isStubborn) {
    await sleep(ms);
    return;
  }
  await sleep(ms, context.signal);
  context.signal.throwIfAborted();
}

interface Settled {
  readonly how: FlightEnd;
  readonly value: HandlerResult | Continuation;
}

async function settle({ way }: ChaosPayload, context: TaskContext): Promise<Settled> {
  const { taskId, fence } = context;
  if (way === "commit") {
    await context.completeWith(async (transaction) => {
      const text = "insert into public.effect (task_id, fence) values ($1, $2)";
      await transaction.query(text, [taskId, fence]);
    });
    return { how: "committed", value: null };
  }
  if (way === "child") {
    const payload = {
      way: "return",
      ms: 5,
      isStubborn: false,
      group: null,
      priority: 100,
      parent: taskId,
    };
    await context.enqueue(taskRef({ name: sideName }), payload);
  }
  if (way === "throw" && context.attempt === 1) throw new Error("as its payload says");
  if (way === "continue" && context.restored === null)
    return { how: "continued", value: context.checkpoint({ part: 1 }) };
  return { how: "returned", value: { by: fence } };
}
