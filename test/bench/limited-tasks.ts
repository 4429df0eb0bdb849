import { sleep } from "../../shared/platform/real-clock";
import { defineTask } from "../../shared/worker/define/define-task";
import type { TaskKind } from "../../shared/worker/define/task-kind";

/** 20 ms of waiting on something outside, as a call of a partner's API, under a limit. */
export function limitedTask(limit: number): TaskKind {
  return defineTask({
    name: `limited-${String(limit)}`,
    limit,
    concurrencyPerWorker: limit,
    run: async () => {
      await sleep(20);
    },
  });
}
