import { describe, expect, test } from "@jest/globals";
import { cancelBatch } from "../../../shared/admin/batch-actions";
import { realRandom } from "../../../shared/platform/real-clock";
import type { PumpBatchAnswer } from "../../../shared/ports/task-store";
import { MemoryTaskStore } from "../../../shared/testing/memory-store/memory-task-store";
import { makeBatch } from "../../contract/batch-builders";
import { overriding } from "../worker/worker-bench";

const wakeUp = { hint: () => Promise.resolve() } as never;

/** A batch whose slice of tasks 7 and 8 is admitted by another call, which is over before the nth pump of the cancel. */
async function cancelMeanwhile(pumps: readonly PumpBatchAnswer["status"][]) {
  const memory = new MemoryTaskStore({ clock: { now: () => Date.now() }, random: realRandom });
  const { batchId } = await makeBatch(memory, 1);
  const ended: string[] = [];
  let pumped = 0;
  const store = overriding(memory, {
    pumpBatch: () => {
      const status = pumps[pumped] ?? "done";
      pumped += 1;
      return Promise.resolve({ status, moved: 0, more: status === "busy", woken: [] });
    },
    cancelBatch: () =>
      Promise.resolve({
        status: "cancelled" as const,
        tasks: pumped >= pumps.length && ended.length === 0 ? ["7", "8"] : [],
        opening: [batchId],
      }),
    cancelTasks: ({ taskIds }) => {
      ended.push(...taskIds);
      return Promise.resolve({ status: "done" as const, results: [], woken: [], opening: [] });
    },
  });
  const answer = await cancelBatch({ store, wakeUp }, { batchId, changedBy: "ada" });
  return { answer, ended, pumped };
}

describe("a cancel of a batch that another call is opening", () => {
  test("a cancel of an opening batch ends the tasks that the other call has admitted since they were listed", async () => {
    const { answer, ended } = await cancelMeanwhile(["pumped"]);
    expect(ended).toEqual(["7", "8"]);
    expect(answer).toMatchObject({ status: "cancelled", tasks: 2 });
  });

  test("a cancel of an opening batch waits for the other call's slice, and ends its tasks", async () => {
    const { ended, pumped } = await cancelMeanwhile(["busy", "busy", "pumped"]);
    expect(ended).toEqual(["7", "8"]);
    expect(pumped).toBe(3);
  });

  test("a cancel of an opening batch leaves it to the sweep when it stays busy for two seconds", async () => {
    const { ended, pumped } = await cancelMeanwhile(Array.from({ length: 99 }, () => "busy"));
    expect(ended).toEqual([]);
    expect(pumped).toBe(20);
  });
});
