import { createAdmin } from "../../shared/admin/create-admin";
import { defineTask } from "../../shared/worker/define/define-task";
import { openBench } from "./bench-environment";
import { quantile, timed } from "./measurement";
import type { BenchScenario, Measurement } from "./measurement";

/** As the pages of the dashboard ask: the overview each second, a definition's page as often, its statistics each ten. */
const lookEveryMs = 1_000;
const statisticsEvery = 10;
const pairs = 9;
/** A drain must last for several looks, else its first one weighs more than one a second. */
const longer = 5;

/** Drains in pairs, one of each beside an open dashboard, in turn the first and the second; the reads are made by the same process. */
export const watchedDrain: BenchScenario = async (url, scale): Promise<Measurement[]> => {
  const noop = defineTask({ name: "noop", limit: 16, prefetch: 62, run: async () => undefined });
  const bench = openBench(url, [noop]);
  const watcher = openBench(url, []);
  const { store, random, timers, wakeUp, build } = watcher.environment;
  const admin = createAdmin({ store, random, timers, wakeUp, build });

  async function look(number: number): Promise<void> {
    await Promise.all([
      admin.status(),
      admin.definitions("noop"),
      admin.pace("noop"),
      admin.tasks({ definition: "noop", states: ["claimed"], max: 50 }),
      ...(number % statisticsEvery === 0
        ? [admin.statistics({ definition: "noop", window: "hour" }), admin.summaries()]
        : []),
    ]);
  }

  let begun = 0; // of all drains: each page is open throughout
  async function drain(isWatched: boolean): Promise<number> {
    for (let part = 0; part < longer; part += 1) {
      const payloads = Array.from({ length: scale.tasks }, (_, index) => ({ index }));
      await bench.client.enqueueMany(noop, payloads);
    }
    const looks: Promise<void>[] = [];
    const begin = (): void => {
      looks.push(look(begun));
      begun += 1;
    };
    if (isWatched) begin();
    const timer = isWatched ? setInterval(begin, lookEveryMs) : undefined;
    const ms = await timed(() => Promise.all([bench.work("noop"), bench.work("noop")]));
    clearInterval(timer);
    await Promise.all(looks);
    return ms;
  }

  await drain(false);
  const ratios: number[] = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    const isFirst = pair % 2 === 0;
    const first = await drain(isFirst);
    const second = await drain(!isFirst);
    ratios.push(isFirst ? second / first : first / second);
  }
  await watcher.close();
  await bench.close();
  return [
    {
      scenario: "batched drain beside an open dashboard: speed against none, median of 9 pairs",
      unit: "share",
      value: quantile(ratios, 0.5),
      goal: 0.97,
    },
  ];
};
