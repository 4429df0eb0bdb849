import type { EngineName } from "../../tsql-server/engine/options";
import type { World } from "../../tsql-server/engine/world";
import { measure, worldWithGhosts } from "./measure";
import type { Cost } from "./measure";
import { deleteReady, placeOfClaim, plantFinished, plantReady, startedTasks } from "./scene";
import type { Scene } from "./scenario";

/* The claim, whose cost must depend on nothing but its batch: not on the backlog behind, not on earlier deletions. */

/** Where a claim looks for its tasks. */
export interface ClaimSituation {
  /** Deleted entries before the first ready one, not cleaned up yet. */
  readonly ghosts: number;
  /** Ready entries behind those that are claimed. */
  readonly backlog: number;
  /** Tasks of the definition that are done already. */
  readonly finished?: number;
  /** Does the worker say where it claimed last? */
  readonly hasHint: boolean;
}

export const situations: readonly ClaimSituation[] = [
  { ghosts: 0, backlog: 0, hasHint: false },
  { ghosts: 0, backlog: 1_000, hasHint: false },
  { ghosts: 0, backlog: 100_000, hasHint: false },
  { ghosts: 0, backlog: 0, finished: 100_000, hasHint: false },
  { ghosts: 0, backlog: 0, hasHint: true },
  { ghosts: 0, backlog: 100_000, hasHint: true },
  { ghosts: 100_000, backlog: 0, hasHint: true },
  { ghosts: 100_000, backlog: 0, hasHint: false },
];

/** `100,000 deleted before, scan hint`. */
export function describeSituation(situation: ClaimSituation): string {
  const { ghosts, backlog, finished = 0, hasHint } = situation;
  const count = (number: number): string => number.toLocaleString("en-US");
  return [
    `${count(ghosts)} deleted before`,
    `${count(backlog)} behind`,
    ...(finished > 0 ? [`${count(finished)} finished`] : []),
    ...(hasHint ? ["scan hint"] : []),
  ].join(", ");
}

/** Costs of claiming in each situation, by batch. */
export async function measureClaims(
  engine: EngineName,
  batches: readonly number[],
): Promise<{ situation: ClaimSituation; batch: number; cost: Cost }[]> {
  const worlds = new Map<string, World>();
  const found: { situation: ClaimSituation; batch: number; cost: Cost }[] = [];
  for (const situation of situations) {
    const key = `${situation.ghosts} ${situation.backlog} ${situation.finished ?? 0}`;
    const world = worlds.get(key) ?? plant(engine, situation);
    worlds.set(key, world);
    for (const batch of batches) {
      const cost = await measure(world, batch, (scene) => prepareClaim(scene, situation));
      found.push({ situation, batch, cost });
    }
  }
  return found;
}

/** Definition 1 doesn't exist yet, but its entries may: the first one that is registered gets that number. */
export function plant(
  engine: EngineName,
  { ghosts, backlog, finished = 0 }: ClaimSituation,
): World {
  const world = worldWithGhosts(engine);
  if (ghosts > 0) {
    plantReady(world, "before", ghosts);
    deleteReady(world);
  }
  if (backlog > 0) plantReady(world, "behind", backlog);
  if (finished > 0) plantFinished(world, finished);
  return world;
}

/** A worker that is about to claim. */
export async function prepareClaim(
  scene: Scene,
  { hasHint }: ClaimSituation,
): Promise<() => Promise<unknown>> {
  const { batch } = scene;
  const { worker } = await startedTasks({ ...scene, batch: batch + 1 });
  // One claim before: it gives the place, and both ways begin alike.
  const after = await placeOfClaim(worker);
  return () => worker.work({ want: batch, ...(hasHint ? { after } : {}) });
}
