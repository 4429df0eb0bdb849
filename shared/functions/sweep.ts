import { isForLater } from "../core/errors";
import { sleep } from "../platform/real-clock";
import { registerBuild } from "../worker/run/schedules";
import { sweepOnce } from "../worker/run/sweep";
import type { AppProcess, Runtime } from "./runtime";

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
  return app.invocations.counted(async () => {
    for (const pauseMs of pausesMs) {
      try {
        await sweepApp(app);
        return;
      } catch (error) {
        if (!isForLater(error) || app.invocations.ending.aborted) throw error;
        await sleep(pauseMs, app.invocations.ending);
      }
    }
    await sweepApp(app);
  });
}

async function sweepApp(process: AppProcess): Promise<void> {
  await process.tracked(async (runtime) => {
    const { environment, registry } = runtime;
    await registerOnce(runtime);
    const { refused } = await sweepOnce(environment, registry, {
      isOfTimer: true,
      withUpkeep: true,
    });
    const { app } = environment;
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
