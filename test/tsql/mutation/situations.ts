import { isDeepStrictEqual } from "node:util";
import { define, enqueue, startWorker } from "../../support/builders";
import { filled, measure } from "../costs/measure";
import { promotedFigures, waitingFigures } from "../costs/scheduled-figures";
import { plantFinished, plantPromoted } from "../costs/scene";
import { loadScript } from "../../tsql-server/engine/load";
import type { World } from "../../tsql-server/engine/world";
import { CoverageWatch } from "./check";
import type { Check, Noticed } from "./check";

/*
 * Situations that only show in what a call reads, or in many rows, as checks of mutants. Nothing of them is recorded: they are compared with
 * what the shipped files do.
 */

type Read = (template: World) => Promise<unknown>;

const situations: Readonly<Record<string, Read>> = {
  // Where deleted entries lie in the way; lists count up to 10,000 from the other end. costs.test.ts has more of them.
  "what is read behind promoted tasks": (template) => promotedFigures(template, [100]),
  "what is read behind claimed tasks": (template) => waitingFigures(template, [10_500]),
  "what is read behind promoted tasks where others are scheduled, or due": readBehindPromoted,
  "what a claim takes that one range fills, or that finds none": readClaims,
  "how many finished tasks of each outcome are counted": countFinished,
};

/** A list beside more scheduled tasks than it counts, and a claim beside one that is due: the promoted ones lie before them. */
async function readBehindPromoted(template: World): Promise<unknown> {
  const world = template.fork();
  plantPromoted(world, 100);
  const listed = await measure(world, 1, async ({ store, name }) => {
    await define(store, {}, name);
    for (const count of [10_000, 500])
      await enqueue(
        store,
        name,
        Array.from({ length: count }, () => ({ runInMs: 60_000 })),
      );
    return () => store.listDefinitions({ name });
  });
  const claimed = await measure(world, 1, async ({ store, world: own, name }) => {
    await define(store, {}, name);
    await enqueue(store, name, [{ runInMs: 1_000 }]);
    const worker = await startWorker(store, name);
    own.clock += 1_000;
    return () => worker.work({ want: 1 });
  });
  return [listed, claimed];
}

/** A claim that one range of the scan hint fills, and a call that completes one and finds none. */
async function readClaims(template: World): Promise<unknown> {
  const hinted = await measure(template, 1, async ({ store, name }) => {
    await define(store, {}, name);
    await enqueue(store, name, 3);
    const worker = await startWorker(store, name, { want: 3 });
    const { last } = await worker.work({ want: 1 });
    return () => worker.work({ want: 1, ...(last !== null && { after: last }) });
  });
  const claimless = await measure(template, 1, async ({ store, name }) => {
    await define(store, {}, name);
    await enqueue(store, name, 2);
    const worker = await startWorker(store, name, { want: 2 });
    const claimed = await worker.claim(2);
    return () => worker.complete(claimed.slice(1), 1);
  });
  return [hinted, claimless];
}

const finishedCount = 10_001;

async function countFinished(template: World): Promise<unknown> {
  const world = await filled(template, ({ store, name }) => define(store, {}, name));
  const counted: unknown[] = [];
  plantFinished(world, finishedCount);
  for (const outcome of [10, 11, 12]) {
    loadScript(world, `UPDATE Taskgate.Archive SET Outcome = ${outcome};`, "outcomes");
    await filled(world, async ({ store, name }) => {
      const { definitions } = await store.listDefinitions({ name });
      counted.push(definitions);
    });
  }
  return counted;
}

/** Each of them as a check. */
export async function situationChecks(shipped: World): Promise<Check[]> {
  const checks: Check[] = [];
  for (const [title, read] of Object.entries(situations)) {
    const watch = new CoverageWatch(shipped);
    const expected = await read(shipped);
    checks.push({
      title,
      ran: watch.ran(),
      size: slow,
      run: (world) => compare(read, world, expected),
    });
  }
  return checks;
}

/** They come behind the costs of single calls. */
const slow = 10_000;

async function compare(read: Read, world: World, expected: unknown): Promise<Noticed | undefined> {
  try {
    const found = await read(world);
    if (isDeepStrictEqual(found, expected)) return undefined;
    const why = `expected ${JSON.stringify(expected)}, found ${JSON.stringify(found)}`;
    return { by: "cost", why };
  } catch (error) {
    return { by: "cost", why: error instanceof Error ? error.message : String(error) };
  }
}
