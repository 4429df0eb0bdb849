import { sleep } from "../../shared/platform/real-clock";
import { defineTask } from "../../shared/worker/define-task";

/** 20 ms of waiting on something outside, as a call of a partner's API. */
export const limited = defineTask({
  name: "limited",
  limit: 4,
  concurrencyPerWorker: 2,
  run: async () => {
    await sleep(20);
  },
});
