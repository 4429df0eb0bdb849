import { sleep } from "../../../shared/platform/real-clock";
import { defineQueue } from "../../../shared/worker/define/define-queue";
import { defineTask } from "../../../shared/worker/define/define-task";
import type { AnyTaskKind } from "../../../shared/worker/define/task-kind";

/** What the culprit does, and how its definition is set. */
export interface Scene {
  readonly leaseMs: number;
  readonly timeoutMs: number;
  readonly lostMax: number;
  /** How long a neighbour takes; default 300 ms. */
  readonly neighbourMs?: number;
  readonly run: () => Promise<undefined>;
}

function block(ms: number): void {
  const untilMs = performance.now() + ms;
  while (performance.now() < untilMs);
}

/** Beside each one five neighbours in its definition, and five in another one of the same process. */
export const scenes: Readonly<Record<string, Scene>> = {
  none: { leaseMs: 2_000, timeoutMs: 60_000, lostMax: 3, run: async () => undefined },
  hang: { leaseMs: 2_000, timeoutMs: 500, lostMax: 3, run: () => new Promise(() => undefined) },
  exit: {
    ...{ leaseMs: 1_000, timeoutMs: 60_000, lostMax: 3 },
    run: async () => process.exit(9),
  },
  "busy loop": {
    ...{ leaseMs: 2_000, timeoutMs: 60_000, lostMax: 3, neighbourMs: 4_000 },
    run: async () => {
      // Its process has run for a while, and its neighbours are in the middle of their work.
      await sleep(3_000);
      block(6_000);
      return undefined;
    },
  },
  // The thread's patience is the longest time-out and the grace: 6 s a try.
  "endless loop": {
    ...{ leaseMs: 1_000, timeoutMs: 1_000, lostMax: 2 },
    run: async () => {
      block(Number.POSITIVE_INFINITY);
      return undefined;
    },
  },
};

/** The kinds of a scene's process: `NAME culprit`, `NAME neighbour`, `NAME stranger`. */
export function kindsOf(name: string): AnyTaskKind[] {
  const scene = scenes[name];
  if (scene === undefined) throw new Error(`there is no scene ${name}`);
  const { leaseMs, timeoutMs, lostMax, neighbourMs = 300 } = scene;
  const retry = { attempts: 2, baseMs: 100, capMs: 100 };
  const shared = { limit: 8, leaseMs, lostMax, retry };
  const definition = defineQueue({ name, ...shared });
  const run = async (): Promise<undefined> => {
    await sleep(neighbourMs);
    return undefined;
  };
  // A neighbour has time enough where it isn't the clock of an endless loop.
  const ample = name === "endless loop" ? timeoutMs : 60_000;
  return [
    defineTask({ name: `${name} culprit`, queue: definition, timeoutMs, run: scene.run }),
    defineTask({ name: `${name} neighbour`, queue: definition, timeoutMs: ample, run }),
    defineTask({ name: `${name} stranger`, ...shared, timeoutMs: ample, run }),
  ];
}
