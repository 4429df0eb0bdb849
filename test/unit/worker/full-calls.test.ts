import { expect, test } from "@jest/globals";
import { defineTask } from "../../../shared/worker/define/define-task";
import { openWorkerBench, overriding } from "./worker-bench";

/* Handlers that never wait, many claimed ahead: the store works on completions while the handlers of the rest run. */

interface CallSeen {
  readonly reported: number;
  /** Claimed tasks whose handlers hadn't begun when the call left the process. */
  readonly unbegun: number;
}

async function drain(prefetch: number, tasks: number): Promise<CallSeen[]> {
  let begun = 0;
  let claimed = 0;
  const calls: CallSeen[] = [];
  const quick = defineTask({
    name: "quick",
    limit: 8,
    prefetch,
    run: async () => void (begun += 1),
  });
  const bench = openWorkerBench([quick], {
    wrap: (store) =>
      overriding(store, {
        work: async (input) => {
          // As a pool of connections hands one out, and a server that is some milliseconds away.
          await new Promise<void>((resolve) => {
            process.nextTick(resolve);
          });
          calls.push({ reported: input.done.length, unbegun: claimed - begun });
          await new Promise((resolve) => setTimeout(resolve, 5));
          const answer = await store.work(input);
          claimed += answer.claimed.length;
          return answer;
        },
      }),
  });
  await bench.client.enqueueMany(
    quick,
    Array.from({ length: tasks }, () => ({})),
  );
  await bench.work("quick");
  expect(begun).toBe(tasks);
  return calls.filter(({ reported }) => reported > 0);
}

test("half of the held tasks are reported before the handlers of the other half begin", async () => {
  const calls = await drain(49, 9_000);
  // Not the first ones, which claim little, nor the last ones, which have nothing to claim.
  const full = calls.filter(({ reported }) => reported >= 150);
  expect(full.length).toBeGreaterThan(calls.length / 2);
  const overlapping = full.filter(({ unbegun }) => unbegun >= 150);
  expect(overlapping.length).toBeGreaterThan(full.length / 2);
});

test("tasks that end in one turn of the event loop are reported in one call where little is held", async () => {
  const [first] = await drain(1, 40);
  expect(first).toEqual({ reported: 16, unbegun: 0 });
});
