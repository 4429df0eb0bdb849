import { sleep } from "../../shared/platform/real-clock";
import type { Dice } from "../support/dice";
import { leaseMs } from "./plan";
import type { RunFolder } from "./run-folder";
import type { Workers } from "./workers";

export interface TroublesPlace {
  readonly workers: Workers;
  readonly folder: RunFolder;
  readonly dice: Dice;
  /** Workers that should live. */
  readonly count: number;
  /** How long the whole run is: short ones have their troubles sooner. */
  readonly runMs: number;
}

/** Mean times between troubles, of a run of hours. */
const killEveryMs = 45_000;
const freezeEveryMs = 60_000;
const deployEveryMs = 1_200_000;
const replaceMs = 3_000;

/** Kills, freezes and replaces workers, until `signal` is aborted. */
export async function makeTroubles(place: TroublesPlace, signal: AbortSignal): Promise<void> {
  const { runMs } = place;
  await Promise.all([
    often(place, { ms: Math.min(killEveryMs, runMs / 4), signal }, () => killOne(place)),
    often(place, { ms: Math.min(freezeEveryMs, runMs / 3), signal }, () => freezeOne(place)),
    often(place, { ms: Math.min(deployEveryMs, runMs / 2), signal }, () => deploy(place, signal)),
    keepCount(place, signal),
  ]);
}

/** Does it again and again, at times that vary by half around their mean. */
async function often(
  { dice }: TroublesPlace,
  { ms, signal }: { ms: number; signal: AbortSignal },
  act: () => Promise<void>,
): Promise<void> {
  while (await pause(Math.ceil((ms * dice.int(50, 150)) / 100), signal)) await act();
}

/** False: `signal` ended it. */
export async function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  await sleep(ms, signal).catch(() => undefined);
  return !signal.aborted;
}

async function killOne({ workers, dice, folder }: TroublesPlace): Promise<void> {
  const worker = dice.pickAny(workers.awake);
  if (worker === undefined) return;
  workers.kill(worker);
  folder.count("killed");
}

/** Half of the freezes outlast a lease. */
async function freezeOne({ workers, dice, folder }: TroublesPlace): Promise<void> {
  const worker = dice.pickAny(workers.awake);
  if (worker === undefined) return;
  workers.freeze(worker);
  folder.count("frozen");
  await sleep(dice.percent(50) ? dice.int(200, leaseMs / 2) : dice.int(leaseMs, 2 * leaseMs));
  workers.thaw(worker);
}

/** Replaces one worker after the other by the next build. */
async function deploy({ workers, folder }: TroublesPlace, signal: AbortSignal): Promise<void> {
  folder.state.build += 1;
  folder.save();
  folder.count("deployed");
  for (const worker of workers.all.filter(({ isElder }) => !isElder)) {
    if (signal.aborted) return;
    await workers.stop(worker);
    workers.start(folder.state.build);
    await pause(replaceMs, signal);
  }
}

/** A killed worker is replaced after a while. */
async function keepCount(place: TroublesPlace, signal: AbortSignal): Promise<void> {
  const { workers, folder, count } = place;
  while (await pause(1_000, signal))
    if (workers.all.length < count) workers.start(folder.state.build);
}
