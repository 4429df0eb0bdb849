import { register } from "../shared/worker/register";
import { reclaim } from "../shared/worker/run-worker";
import type { Runtime } from "./runtime";
import { tracked } from "./runtime";

/** Definitions that one sweep looks after. */
const definitionsMax = 1_000;
/**
 * Timer: finds again the work whose hint was lost, in one read; takes back what dead workers held; leaves one hint per
 * definition that may run: who comes and finds more than it can take calls the next. Bounded: a few calls, whatever the
 * backlog.
 */
export async function sweep(): Promise<void> {
  await tracked(async (runtime) => {
    await registerOnce(runtime);
    const { store, telemetry } = runtime.environment;
    const found = await store.sweep({ most: definitionsMax });
    telemetry.count("taskgate.sweep.count", 1);
    if (found.expired > 0) await reclaim(runtime.environment);
    const own = new Set(runtime.registry.definitions.map((definition) => definition.name));
    for (const definition of found.definitions) {
      if (definition.paused || definition.free === 0 || !own.has(definition.name)) continue;
      await runtime.environment.wakeUp.hint(definition.name);
    }
  });
}

const registered = new WeakSet<Runtime>();

/** After a deployment the first tick makes every definition known, so that HTTP and SQL callers may enqueue before any worker came. */
async function registerOnce(runtime: Runtime): Promise<void> {
  if (registered.has(runtime)) return;
  for (const definition of runtime.registry.definitions)
    await register(runtime.environment, definition);
  registered.add(runtime);
}
