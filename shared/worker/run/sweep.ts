import type { WorkerEnvironment } from "../environment";
import type { Registry } from "../define/registry";
import { BatchPump } from "./batch-pump";
import { measureDefinitions } from "./measure-definitions";
import { promoteDue } from "./promote-due";
import { purge } from "./purge";
import { reclaim } from "./run-worker";
import { fireSchedules } from "./schedules";
import { rollUpStatistics } from "./statistics";

/** Definitions that one sweep looks after. */
const definitionsMax = 1_000;
/** For opening waves that no other call goes on opening; the rest is for the next sweep. */
const pumpMs = 10_000;
/** For making due tasks ready, likewise. */
const promoteMs = 5_000;
/** For deleting rows whose retention is over, likewise. */
const purgeMs = 5_000;
/** For adding up statistics, likewise. */
const rollUpMs = 5_000;
/** For schedules that are due, likewise. */
const fireMs = 10_000;

/** How one sweep is made. */
export interface SweepOptions {
  /** Definitions that get a hint; left out: all of this build. */
  readonly serves?: (definition: string) => boolean;
  /** An app's timer makes it: counted, so that an alert tells when no app sweeps any more. */
  readonly isOfTimer?: boolean;
  /** Statistics are added up, rows whose retention is over are deleted, and gauges set. */
  readonly withUpkeep: boolean;
}

/** What a sweep found. */
export interface Swept {
  /** Definitions that got a hint. */
  readonly hinted: number;
  /** Definitions with ready tasks that got no hint, as all their tokens are held. */
  readonly full: readonly string[];
  /** Until the next delayed task or instant of a schedule, ms; null: none. */
  readonly nextDueMs: number | null;
  /** Definitions of this build that belong to other apps, with the app's name. */
  readonly refused: ReadonlyMap<string, string>;
}

/**
 * Finds again the work whose hint was lost, in one read; takes back what dead workers held; fires schedules that are due;
 * goes on opening waves; leaves one hint per definition that may run; makes due tasks ready. Statistics are added up, and rows whose retention is
 * over are deleted last, in slices. Bounded: a few calls for any backlog.
 */
export async function sweepOnce(
  environment: WorkerEnvironment,
  registry: Registry,
  { serves = () => true, isOfTimer = false, withUpkeep }: SweepOptions,
): Promise<Swept> {
  const { store, telemetry, clock, wakeUp, logger } = environment;
  const found = await store.sweep({ max: definitionsMax });
  if (isOfTimer) telemetry.count("taskgate.sweep.count", 1);
  if (found.expired > 0) await reclaim(environment);
  await fireSchedules(environment, found.schedules, clock.monotonicMs() + fireMs);
  const pump = new BatchPump(environment, clock.monotonicMs() + pumpMs);
  pump.open(found.opening);
  await pump.settled();
  const refused = (await environment.app?.refused()) ?? new Map<string, string>();
  const own = new Set(
    registry.definitions.map(({ name }) => name).filter((name) => !refused.has(name)),
  );
  if (found.definitions.length === definitionsMax)
    logger.warn(
      "more definitions have ready tasks than a sweep looks after; the last ones by name wait for their hints",
      { definitions: definitionsMax },
    );
  const ours = found.definitions.filter(({ name }) => own.has(name));
  const full: string[] = [];
  let hinted = 0;
  for (const { name, paused, free, crowdedOut } of ours) {
    if (paused || !serves(name)) continue;
    // Only after it has asked do the others give a token.
    if (free === 0 && !crowdedOut) {
      full.push(name);
      continue;
    }
    hinted += 1;
    await wakeUp.hint(name, { isSure: true });
  }
  await promoteDue(environment, ours, clock.monotonicMs() + promoteMs);
  // Last: no caller waits for them.
  if (withUpkeep) await rollUpStatistics(environment, clock.monotonicMs() + rollUpMs);
  if (withUpkeep && found.isPurgeable) await purge(environment, clock.monotonicMs() + purgeMs);
  if (withUpkeep) await measureDefinitions(environment, own);
  return { hinted, full, nextDueMs: found.nextDueMs, refused };
}
