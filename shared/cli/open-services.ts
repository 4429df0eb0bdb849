import { createAdmin } from "../admin/create-admin";
import type { Admin } from "../admin/create-admin";
import type { DoctorProbe } from "../admin/doctor";
import { resolveBuild } from "../platform/build-info";
import { createConsoleLogger } from "../platform/console-logger";
import { nodeTimers } from "../platform/node-timers";
import { realClock, realRandom, sleep } from "../platform/real-clock";
import { checkHintQueue, createHintQueue } from "../platform/storage-hint-queue";
import { createStorageQueueWakeUp, noWakeUp } from "../platform/storage-queue-wake-up";
import type { Logger } from "../ports/logger";
import type { WakeUp } from "../ports/wake-up";
import type { Settings } from "../settings/settings";
import { checkStoreSchema, openStore, reportHolders } from "../store/open-store";
import { completeByApp } from "./app-kinds";
import { PatientCalls, patientStore } from "../store/patient-store";
import { storeAddress } from "./store-address";
import type { Output } from "./output";

/** A database that is silent for so long is told of. */
const sayAfterMs = 3_000;

/** What a command works with, and how to end it. */
export interface Services {
  readonly admin: Admin;
  /** Ends all connections. */
  close(): Promise<void>;
  /** Does something still hang that nobody waits for? */
  hasGivenUp(): boolean;
}

/** How long to wait for a database that is silent, and who hears of it. */
export interface Waiting {
  readonly timeoutMs: number;
  readonly onSlow: (text: string) => void;
}

/** Opens store, queue and admin. Nothing is sent before the first call. */
export function openServices(settings: Settings, output: Output, waiting: Waiting): Services {
  const logger = createConsoleLogger({
    level: settings.logLevel === "info" ? "warn" : settings.logLevel,
    form: "human",
    clock: realClock,
    // Standard output belongs to the result.
    write: (line) => {
      output.error(line);
    },
  });
  const calls = new PatientCalls({ ...waiting, sayAfterMs, timers: nodeTimers });
  const opened = openStore({
    ...storeAddress(settings),
    connectionsMax: settings.connectionsMax,
    callTimeoutMs: settings.callTimeoutMs,
    random: realRandom,
    sleep,
  });
  const store = patientStore(opened, calls);
  const holders: DoctorProbe = {
    check: "held rows",
    run: async () => {
      const { schema } = storeAddress(settings);
      const seen = await calls.run(() => reportHolders(opened, schema), { reads: true });
      return seen ?? "Not read from this database.";
    },
  };
  const { storage, hintQueue } = settings;
  const admin = createAdmin({
    store,
    wakeUp: openWakeUp(settings, logger),
    random: realRandom,
    build: resolveBuild(settings),
    completeTasks: completeByApp,
    probes: [
      {
        check: "schema",
        run: async () => {
          await calls.run(() => checkStoreSchema(storeAddress(settings)), { reads: true });
          return "The schema fits this version.";
        },
      },
      holders,
      {
        check: "hint queue",
        run: () =>
          storage === null
            ? Promise.resolve(
                "No queue is known here (AzureWebJobsStorage): only the sweep finds work.",
              )
            : checkHintQueue(storage, hintQueue),
      },
    ],
  });
  // What was given up hangs: its end isn't waited for, either.
  const close = (): Promise<void> => {
    const closed = opened.close();
    closed.catch(() => undefined);
    return calls.hasGivenUp ? Promise.resolve() : closed;
  };
  return { admin, close, hasGivenUp: () => calls.hasGivenUp };
}

function openWakeUp({ storage, hintQueue }: Settings, logger: Logger): WakeUp {
  if (storage === null) return noWakeUp;
  const queue = createHintQueue(storage, hintQueue);
  return createStorageQueueWakeUp({ queue, clock: realClock, timers: nodeTimers, logger });
}
