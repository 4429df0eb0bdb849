import { createConsoleLogger } from "../shared/platform/console-logger";
import { nodeTimers } from "../shared/platform/node-timers";
import { realClock } from "../shared/platform/real-clock";
import { createHintQueue } from "../shared/platform/storage-hint-queue";
import type { HintQueue } from "../shared/platform/storage-hint-queue";
import { createStorageQueueWakeUp, noWakeUp } from "../shared/platform/storage-queue-wake-up";
import { loadTelemetry } from "../shared/platform/telemetry";
import type { Logger } from "../shared/ports/logger";
import type { Telemetry } from "../shared/ports/telemetry";
import type { WakeUp } from "../shared/ports/wake-up";
import { loadSettings } from "../shared/settings/load-settings";
import type { Settings } from "../shared/settings/settings";
import { createRegistry } from "../shared/worker/registry";
import type { Registry } from "../shared/worker/registry";
import { builtInTasks } from "./built-in-tasks";
import { tasks } from "./tasks";

/** What the functions have without the database: an invocation that finds it away works with these. */
export interface Services {
  readonly settings: Settings;
  readonly logger: Logger;
  readonly telemetry: Telemetry;
  readonly registry: Registry;
  readonly wakeUp: WakeUp;
  /** The storage queue of that name, opened once. Throws where no storage is known. */
  queue(name: string): HintQueue;
}

let services: Promise<Services> | null = null;
/** Started once, whatever becomes of the rest. */
let telemetryOfProcess: Promise<Telemetry> | null = null;

/** Made at the first invocation, once per process. Nothing is asked of database or storage. Throws SettingsError. */
export function getServices(): Promise<Services> {
  services ??= build().catch((error: unknown) => {
    services = null;
    throw error;
  });
  return services;
}

/** The services if an invocation has made them; the end of a process makes none. */
export async function builtServices(): Promise<Services | null> {
  return (await services?.catch(() => null)) ?? null;
}

async function build(): Promise<Services> {
  const settings = loadSettings();
  const logger = createConsoleLogger({ level: settings.logLevel, form: "human", clock: realClock });
  // Before the drivers, which are instrumented when they are loaded.
  telemetryOfProcess ??= loadTelemetry(settings.telemetry, logger);
  const telemetry = await telemetryOfProcess;
  const queue = queuesOf(settings);
  return {
    settings,
    logger,
    telemetry,
    registry: createRegistry([...tasks, ...builtInTasks(settings)]),
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

function queuesOf({ storage }: Settings): (name: string) => HintQueue {
  const open = new Map<string, HintQueue>();
  return (name) => {
    if (storage === null)
      throw new Error("AzureWebJobsStorage is not set: there is no queue to put a message into");
    const queue = open.get(name) ?? createHintQueue(storage, name);
    open.set(name, queue);
    return queue;
  };
}
