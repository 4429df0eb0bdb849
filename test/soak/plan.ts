import type { JsonObject } from "../../shared/core/json";
import { defineLimit, defineQueue } from "../../shared/worker/define/define-queue";
import { defineTask } from "../../shared/worker/define/define-task";
import type { Continuation, TaskContext } from "../../shared/worker/define/task-context";
import type { TaskKind } from "../../shared/worker/define/task-kind";

/*
 * The load: eleven kinds, each in a definition of its own, so that each has its limit. `plain` and `grouped` draw from one
 * shared limit, too.
 */

export const leaseMs = 6_000;
export const sharedLimit = { name: "soak-shared", limit: 4 };

/** Of each kind: its limit, how many of a hundred tasks are of it, and how long one takes. */
export const kinds = {
  plain: { limit: 8, share: 54, ms: [3, 15] },
  grouped: { limit: 8, share: 14, ms: [3, 20] },
  waved: { limit: 6, share: 9, ms: [3, 20] },
  rated: { limit: 8, share: 4, ms: [3, 10] },
  delayed: { limit: 4, share: 5, ms: [3, 10] },
  parent: { limit: 4, share: 2, ms: [3, 10] },
  child: { limit: 4, share: 0, ms: [3, 10] },
  flaky: { limit: 4, share: 3, ms: [3, 10] },
  doomed: { limit: 4, share: 1, ms: [3, 10] },
  event: { limit: 4, share: 4, ms: [3, 10] },
  narrow: { limit: 2, share: 2, ms: [100, 300] },
  parts: { limit: 4, share: 2, ms: [3, 10] },
  scheduled: { limit: 1, share: 0, ms: [3, 10] },
} as const satisfies Record<
  string,
  { limit: number; share: number; ms: readonly [number, number] }
>;

export type KindName = keyof typeof kinds;
export const kindNames = Object.keys(kinds) as KindName[];

/** Groups of `grouped`, and how many tasks of one may run at once. */
export const groups = { count: 20, slots: 2 } as const;
/** Waves of a batch of `waved`, and tasks in each. */
export const waves = { count: 3, tasks: 10 } as const;

/** How large a run is; it stays the same when the run goes on in another leg. */
export interface Scale {
  /** Tasks enqueued a second. */
  readonly rate: number;
  /** How long finished tasks are kept. */
  readonly retainMs: number;
  /** The longest delay of `delayed`. */
  readonly delayMs: number;
  /** `doomed` gives up until so long after its enqueue; only then it is redriven. */
  readonly doomedMs: number;
}

/** Starts per second that `rated` may have: a third more than what comes. */
export const ratePerSecond = ({ rate }: Scale): number =>
  Math.max(1, Math.ceil((rate * kinds.rated.share * 1.33) / 100));

export interface SoakPayload extends JsonObject {
  /** When it was enqueued, ms. */
  at: number;
  ms: number;
  /** Group, batch and wave, or parent: what the judge has to know of it. */
  tag: string | null;
  /** `flaky`: attempts that fail. */
  fails: number;
  /** `doomed`: gives up before this instant, ms. */
  until: number;
}

export type SoakHandler = (
  payload: SoakPayload,
  context: TaskContext,
) => Promise<undefined | Continuation>;

/** The kinds of a build. Each build has other settings, so each registers anew. */
export function kindsOf(
  scale: Scale,
  build: number,
  run: SoakHandler,
): TaskKind<SoakPayload, unknown>[] {
  return kindNames.map((name) => {
    const queue = defineQueue({
      name,
      limit: kinds[name].limit,
      leaseMs,
      retry: { attempts: 5, baseMs: 200, capMs: 2_000 },
      lostMax: 50 + (build % 10),
      retain: { doneMs: scale.retainMs, deadMs: Math.max(scale.retainMs, 120_000) },
      ...(name === "plain" || name === "grouped" ? { within: [defineLimit(sharedLimit)] } : {}),
      ...(name === "rated" ? { rate: { count: ratePerSecond(scale), periodMs: 1_000 } } : {}),
      ...(name === "grouped" ? { group: { slots: groups.slots } } : {}),
    });
    return defineTask<SoakPayload>({
      name,
      queue,
      ...(name === "grouped" ? { group: { by: "tag" as const } } : {}),
      ...(name === "scheduled"
        ? {
            schedule: {
              cron: "* * * * *",
              payload: { at: 0, ms: 5, tag: null, fails: 0, until: 0 },
            },
          }
        : {}),
      run,
    });
  });
}
