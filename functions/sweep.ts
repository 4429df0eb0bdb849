import { isForLater } from "../shared/core/errors";
import { sleep } from "../shared/platform/real-clock";
import { BatchPump } from "../shared/worker/batch-pump";
import { purge } from "../shared/worker/purge";
import { reclaim } from "../shared/worker/run-worker";
import { fireSchedules, registerBuild } from "../shared/worker/schedules";
import { counted, endingSignal } from "./invocations";
import type { Runtime } from "./runtime";
import { tracked } from "./runtime";

/** Definitions that one sweep looks after. */
const definitionsMax = 1_000;
/** For opening waves that nobody goes on opening; the rest is for the next tick. */
const pumpMs = 10_000;
/** For deleting what nobody needs any more, likewise. */
const purgeMs = 5_000;
/** For schedules that are due, likewise. */
const fireMs = 10_000;

/** Pauses between the tries of one tick: a serverless database takes about a minute to wake up. */
const pausesMs = [5_000, 10_000, 20_000, 40_000] as const;

/**
 * Timer: finds again the work whose hint was lost, in one read; takes back what dead workers held; fires schedules that are
 * due; leaves one hint per definition that may run: who comes and finds more than it can take calls the next. Bounded: a few
 * calls, whatever the backlog. What nobody needs any more is deleted last, in slices.
 * While the database is away a tick tries again for a little more than a minute, because the next one may be hours away.
 */
export function sweep(): Promise<void> {
  return counted(async () => {
    for (const pauseMs of pausesMs) {
      try {
        await sweepOnce();
        return;
      } catch (error) {
        if (!isForLater(error) || endingSignal.aborted) throw error;
        await sleep(pauseMs, endingSignal);
      }
    }
    await sweepOnce();
  });
}

async function sweepOnce(): Promise<void> {
  await tracked(async (runtime) => {
    await registerOnce(runtime);
    const { store, telemetry } = runtime.environment;
    const found = await store.sweep({ most: definitionsMax });
    telemetry.count("taskgate.sweep.count", 1);
    if (found.expired > 0) await reclaim(runtime.environment);
    const { environment } = runtime;
    await fireSchedules(environment, found.schedules, environment.clock.monotonicMs() + fireMs);
    const pump = new BatchPump(
      runtime.environment,
      runtime.environment.clock.monotonicMs() + pumpMs,
    );
    pump.open(found.opening);
    await pump.settled();
    const own = new Set(runtime.registry.definitions.map((definition) => definition.name));
    for (const definition of found.definitions) {
      if (definition.paused || definition.free === 0 || !own.has(definition.name)) continue;
      await runtime.environment.wakeUp.hint(definition.name);
    }
    // Last: nobody waits for it.
    if (found.isPurgeable)
      await purge(runtime.environment, runtime.environment.clock.monotonicMs() + purgeMs);
  });
}

const registered = new WeakSet<Runtime>();

/** After a deployment the first tick makes every definition and schedule known, so that SQL callers may enqueue before any worker came. */
async function registerOnce(runtime: Runtime): Promise<void> {
  if (registered.has(runtime)) return;
  await registerBuild(runtime.environment, runtime.registry);
  registered.add(runtime);
}
