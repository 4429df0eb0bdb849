import { messageOf } from "../core/foreign-value";
import { isCallsDefinition } from "../core/calls-definition";
import { nextTimerRun } from "../core/cron";
import type { Clock } from "../ports/clock";
import type { Logger } from "../ports/logger";
import type { AppAddress, AppStatus, TaskStore } from "../ports/task-store";
import type { Telemetry } from "../ports/telemetry";
import type { Timers } from "../ports/timers";
import type { HintOptions, WakeUp } from "../ports/wake-up";
import { isSameCloud, queueUriOf } from "../settings/queue-address";
import { isQueueName } from "../settings/setting-formats";
import type { StorageSettings } from "../settings/settings";
import { createHintQueue } from "./storage-hint-queue";
import { createStorageQueueWakeUp } from "./storage-queue-wake-up";

/** What hints to several apps are sent with. */
export interface AppHintsOptions {
  /** The way to this process's own queue, and to definitions of no app. */
  readonly own: {
    readonly wakeUp: WakeUp;
    /** Where those hints go; null: not known, or no process of its own listens there. */
    readonly address: Pick<AppAddress, "queueUri" | "queue"> | null;
    /** Six fields in UTC; null: not known. */
    readonly sweepSchedule: string | null;
    /** Does a hint reach the queue? */
    readonly isReached: () => boolean;
  };
  /** Do workers of this process's own queue run the definition's tasks? */
  readonly isOwn: (definition: string) => boolean;
  /** Opens the queues of other apps, too; null: none can be reached. */
  readonly storage: StorageSettings | null;
  readonly store: Pick<TaskStore, "listApps">;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly telemetry?: Telemetry;
}

/** The time after which the apps are read again. */
const freshMs = 60_000;

/** The way to the queue of another app. */
interface Route {
  readonly wakeUp: WakeUp;
  /** The first message was sent or given up. */
  first: Promise<void> | null;
  isReached: boolean;
}

/**
 * Hints over the queues of several apps: of a definition that belongs to another app, the hint goes to that app's queue. A queue
 * in this process's own storage account is reached with its login; one of another account by an identity only. Hints of
 * definitions that belong to no app go to the own queue. The owners are read once a minute, and only for definitions that
 * aren't the process's own. Never throws: what can't be sent is found by the owner's sweep.
 */
export class AppHints implements WakeUp {
  readonly #options: AppHintsOptions;
  readonly #routes = new Map<string, Route>();
  #apps: { readonly owners: ReadonlyMap<string, AppStatus>; readonly readAtMs: number } | null =
    null;
  #reading: Promise<ReadonlyMap<string, AppStatus>> | null = null;

  constructor(options: AppHintsOptions) {
    this.#options = options;
  }

  async hint(definition: string, options: HintOptions = {}): Promise<void> {
    const { own, isOwn } = this.#options;
    if (isCallsDefinition(definition)) return;
    if (isOwn(definition)) return own.wakeUp.hint(definition, options);
    const owner = await this.#ownerOf(definition);
    if (owner === null || this.#isOwnQueue(owner.address))
      return own.wakeUp.hint(definition, options);
    const route = this.#routeTo(owner.address);
    if (route === null) return;
    const hint = route.wakeUp.hint(definition, options);
    route.first ??= hint;
    await hint;
  }

  /** Longest time until workers look for a task that is ready now, ms; 0: a hint reaches them; null: not known. */
  async startsWithinMs(definition: string): Promise<number | null> {
    const { own, isOwn } = this.#options;
    const owner = isOwn(definition) ? null : await this.#ownerOf(definition);
    if (owner === null || this.#isOwnQueue(owner.address)) {
      if (own.isReached()) return 0;
      return this.#nextSweepMs(own.sweepSchedule);
    }
    const route = this.#routeTo(owner.address);
    await route?.first;
    if (route?.isReached === true) return 0;
    return this.#nextSweepMs(owner.address?.sweepSchedule ?? null);
  }

  #nextSweepMs(schedule: string | null): number | null {
    if (schedule === null) return null;
    const now = new Date(this.#options.clock.nowMs());
    try {
      const next = nextTimerRun(schedule, now);
      return next === null ? null : next.getTime() - now.getTime();
    } catch {
      // Another app has registered what this one can't read.
      return null;
    }
  }

  #isOwnQueue(address: AppAddress | null): boolean {
    const own = this.#options.own.address;
    if (address === null || own === null || own.queueUri === null) return false;
    return address.queueUri === own.queueUri && address.queue === own.queue;
  }

  /** The app that a definition belongs to; null: none, or it can't be read now. */
  async #ownerOf(definition: string): Promise<AppStatus | null> {
    const { clock, logger } = this.#options;
    const apps = this.#apps;
    if (apps !== null && clock.monotonicMs() - apps.readAtMs < freshMs)
      return apps.owners.get(definition) ?? null;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null;
    });
    try {
      return (await this.#reading).get(definition) ?? null;
    } catch (error) {
      const reason = messageOf(error);
      logger.warn("The apps could not be read; hints go where they went before", { reason });
      // A login that may not read them isn't told so again with each hint.
      const owners = apps?.owners ?? new Map<string, AppStatus>();
      this.#apps = { owners, readAtMs: clock.monotonicMs() };
      return owners.get(definition) ?? null;
    }
  }

  async #read(): Promise<ReadonlyMap<string, AppStatus>> {
    const { store, clock } = this.#options;
    const readAtMs = clock.monotonicMs();
    const { apps } = await store.listApps();
    const owners = new Map(
      apps.flatMap((app) => app.definitions.map((name) => [name, app] as const)),
    );
    this.#apps = { owners, readAtMs };
    return owners;
  }

  /** null: no login for that queue. */
  #routeTo(address: AppAddress | null): Route | null {
    const storage = storageOf(this.#options.storage, address);
    if (address === null || storage === null) return null;
    const key = JSON.stringify([address.queueUri, address.queue, address.encoding]);
    const known = this.#routes.get(key);
    if (known !== undefined) return known;
    const { clock, timers, logger, telemetry } = this.#options;
    const queue = createHintQueue(storage, address.queue, address.encoding);
    const route: Route = {
      first: null,
      isReached: false,
      wakeUp: createStorageQueueWakeUp({
        clock,
        timers,
        logger,
        ...(telemetry === undefined ? {} : { telemetry }),
        queue: {
          send: async (text, delaySeconds) => {
            route.isReached = false;
            await queue.send(text, delaySeconds);
            route.isReached = true;
          },
        },
      }),
    };
    this.#routes.set(key, route);
    return route;
  }
}

/** The own login for the queues at `address`: those of the same account, or of any account of the cloud where it is an identity. */
function storageOf(
  own: StorageSettings | null,
  address: AppAddress | null,
): StorageSettings | null {
  if (own === null || address === null || address.queueUri === null) return null;
  // A name such as `../..` would make another address of it.
  if (!isQueueName(address.queue)) return null;
  if (queueUriOf(own) === address.queueUri) return own;
  if (own.kind !== "identity" || !isSameCloud(own.queueServiceUri, address.queueUri)) return null;
  return { ...own, queueServiceUri: address.queueUri };
}
