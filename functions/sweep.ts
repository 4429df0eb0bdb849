import { reclaim } from "../shared/worker/run-worker";
import type { Runtime } from "./runtime";
import { tracked } from "./runtime";

/** Definitions that one sweep looks after. */
const definitionsMax = 1_000;
/** Hints per definition and sweep: more workers are called by those that come. */
const hintsMax = 4;

/**
 * Timer: finds again the work whose hint was lost, in one read; takes back what dead workers held; leaves hints for as
 * many workers as the limit lets run. Bounded: a few calls, whatever the backlog.
 */
export async function sweep(): Promise<void> {
  await tracked(async (runtime) => {
    const { store, telemetry } = runtime.environment;
    const found = await store.sweep({ most: definitionsMax });
    telemetry.count("taskgate.sweep.count", 1);
    if (found.expired > 0) await reclaim(runtime.environment);
    const own = new Set(runtime.registry.definitions.map((definition) => definition.name));
    for (const definition of found.definitions) {
      if (definition.paused || definition.free === 0 || !own.has(definition.name)) continue;
      await hint(runtime, definition);
    }
  });
}

/** As many hints as workers could find tokens and tasks: useful workers = min(ready, free) / tokens of one. */
async function hint(
  runtime: Runtime,
  definition: { name: string; ready: number; free: number; due: boolean },
): Promise<void> {
  const perWorker =
    runtime.registry.definition(definition.name)?.concurrencyPerWorker ??
    runtime.worker.concurrencyPerWorker;
  const useful = Math.ceil(
    Math.min(Math.max(definition.ready, definition.due ? 1 : 0), definition.free) / perWorker,
  );
  await Promise.all(
    Array.from({ length: Math.min(useful, hintsMax) }, () =>
      runtime.environment.wakeUp.hint(definition.name),
    ),
  );
}
