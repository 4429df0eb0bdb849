import { isForLater } from "../core/errors";
import { sleep } from "../platform/real-clock";
import { BatchPump } from "../worker/run/batch-pump";
import { purge } from "../worker/run/purge";
import { reclaim } from "../worker/run/run-worker";
import { fireSchedules, registerBuild } from "../worker/run/schedules";
import { counted, endingSignal } from "./invocations";
import type { AppProcess, Runtime } from "./runtime";

/** Definitions that one sweep looks after. */
const definitionsMax = 1_000;
/** For opening waves that no other call goes on opening; the rest is for the next tick. */
const pumpMs = 10_000;
/** For deleting rows whose retention is over, likewise. */
const purgeMs = 5_000;
/** For schedules that are due, likewise. */
const fireMs = 10_000;

/** Pauses between the tries of one tick: a serverless database takes about a minute to wake up. */
const pausesMs = [5_000, 10_000, 20_000, 40_000] as const;

/**
 * Timer: finds again the work whose hint was lost, in one read; takes back what dead workers held; fires schedules that are
 * due; leaves one hint per definition that may run: a worker that finds more than it can take leaves the next. Bounded: a few
 * calls for any backlog. Rows whose retention is over are deleted last, in slices.
 * A definition that belongs to another app is left alone, and the invocation fails at its end with the names of both apps.
 * While the database is away a tick tries again for a little more than a minute, because the next one may be hours away.
 */
export function sweep(app: AppProcess): Promise<void> {
  return counted(async () => {
    for (const pauseMs of pausesMs) {
      try {
        await sweepOnce(app);
        return;
      } catch (error) {
        if (!isForLater(error) || endingSignal.aborted) throw error;
        await sleep(pauseMs, endingSignal);
      }
    }
    await sweepOnce(app);
  });
}

async function sweepOnce(process: AppProcess): Promise<void> {
  await process.tracked(async (runtime) => {
    await registerOnce(runtime);
    const { store, telemetry } = runtime.environment;
    const found = await store.sweep({ max: definitionsMax });
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
    const { app } = environment;
    const refused = (await app?.refused()) ?? new Map<string, string>();
    const own = new Set(
      runtime.registry.definitions.map(({ name }) => name).filter((name) => !refused.has(name)),
    );
    for (const definition of found.definitions) {
      if (definition.paused || definition.free === 0 || !own.has(definition.name)) continue;
      await runtime.environment.wakeUp.hint(definition.name);
    }
    // Last: no caller waits for it.
    if (found.isPurgeable)
      await purge(runtime.environment, runtime.environment.clock.monotonicMs() + purgeMs);
    // The rest of the app has been served; the invocation fails, so that an operator sees it.
    if (app !== undefined && refused.size > 0) throw app.refusal(refused);
  });
}

const registered = new WeakSet<Runtime>();

/** After a deployment the first tick makes every definition and schedule known, so that SQL callers may enqueue before any worker came. */
async function registerOnce(runtime: Runtime): Promise<void> {
  if (registered.has(runtime)) return;
  await registerBuild(runtime.environment, runtime.registry);
  // What another app hands over is registered by the tick that finds it.
  const refused = await runtime.environment.app?.refused();
  if (refused === undefined || refused.size === 0) registered.add(runtime);
}
