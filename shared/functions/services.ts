import { createConsoleLogger } from "../platform/console-logger";
import { nodeTimers } from "../platform/node-timers";
import { realClock } from "../platform/real-clock";
import { createOwnOpenTelemetry } from "../platform/own-open-telemetry";
import { createHintQueue } from "../platform/storage-hint-queue";
import type { HintQueue } from "../platform/storage-hint-queue";
import { createStorageQueueWakeUp, noWakeUp } from "../platform/storage-queue-wake-up";
import { loadTelemetry } from "../platform/telemetry";
import type { Logger } from "../ports/logger";
import type { AppAddress } from "../ports/task-store";
import type { Telemetry } from "../ports/telemetry";
import type { WakeUp } from "../ports/wake-up";
import { loadSettings } from "../settings/load-settings";
import { queueUriOf, readMessageEncoding } from "../settings/queue-address";
import type { Settings } from "../settings/settings";
import type { AppIdentity } from "../worker/client/own-app";
import { createRegistry } from "../worker/define/registry";
import type { Registry } from "../worker/define/registry";
import { builtInTasks } from "./built-in-tasks";
import type { AppParts } from "./app-parts";
import type { LimitedTasks } from "./limited-tasks";

/** What the functions have without the database: an invocation that finds it away works with these. */
export interface Services {
  readonly settings: Settings;
  readonly logger: Logger;
  readonly telemetry: Telemetry;
  readonly registry: Registry;
  readonly wakeUp: WakeUp;
  /** Where this app's own hints go. */
  readonly address: AppAddress;
  /** The app that the definitions belong to; null: none is declared. */
  readonly app: AppIdentity | null;
  /** The storage queue of that name, opened once. Throws where no storage is known. */
  queue(name: string): HintQueue;
}

/** Started once per process, independent of the rest. */
let telemetryOfProcess: Promise<Telemetry> | null = null;

/** The services of one app, made at the first invocation and once per process. */
export class AppServices {
  readonly #app: AppParts;
  readonly #limited: LimitedTasks;
  #services: Promise<Services> | null = null;

  constructor(app: AppParts, limited: LimitedTasks) {
    this.#app = app;
    this.#limited = limited;
  }

  /** Nothing is asked of database or storage. Throws SettingsError. */
  get(): Promise<Services> {
    this.#services ??= build(this.#app, this.#limited).catch((error: unknown) => {
      this.#services = null;
      throw error;
    });
    return this.#services;
  }

  /** The services if an invocation has made them, else null: the end of a process makes none. */
  async built(): Promise<Services | null> {
    return (await this.#services?.catch(() => null)) ?? null;
  }
}

async function build(app: AppParts, limited: LimitedTasks): Promise<Services> {
  const settings = loadSettings();
  const logger = createConsoleLogger({ level: settings.logLevel, form: "human", clock: realClock });
  const telemetry = await telemetryOf(app, settings, logger);
  const queue = queuesOf(settings);
  const registry = createRegistry([
    ...app.tasks,
    ...builtInTasks(settings, app.app),
    ...limited.read(),
  ]);
  const address: AppAddress = {
    queueUri: settings.storage === null ? null : queueUriOf(settings.storage),
    queue: settings.hintQueue,
    encoding: readMessageEncoding(),
    sweepSchedule: settings.sweepSchedule,
  };
  const definitions = registry.definitions.map(({ name }) => name);
  return {
    settings,
    logger,
    telemetry,
    registry,
    address,
    app: app.app === undefined ? null : { name: app.app, definitions, address },
    wakeUp:
      settings.storage === null
        ? noWakeUp
        : createStorageQueueWakeUp({
            queue: queue(settings.hintQueue),
            clock: realClock,
            timers: nodeTimers,
            logger,
            telemetry,
          }),
    queue,
  };
}

/** The app's own, else that of the process. Before the drivers, which are instrumented when they are loaded. */
function telemetryOf(
  { openTelemetry }: AppParts,
  settings: Settings,
  logger: Logger,
): Promise<Telemetry> {
  if (openTelemetry !== undefined) return Promise.resolve(createOwnOpenTelemetry(openTelemetry));
  telemetryOfProcess ??= loadTelemetry(settings.telemetry, logger);
  return telemetryOfProcess;
}

function queuesOf({ storage }: Settings): (name: string) => HintQueue {
  const open = new Map<string, HintQueue>();
  return (name) => {
    if (storage === null)
      throw new Error("AzureWebJobsStorage is not set: there is no queue to put a message into");
    const queue = open.get(name) ?? createHintQueue(storage, name, readMessageEncoding());
    open.set(name, queue);
    return queue;
  };
}
