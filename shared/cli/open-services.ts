import { createAdmin } from "../admin/create-admin";
import type { Admin } from "../admin/create-admin";
import type { DoctorProbe } from "../admin/doctor";
import { AppHints } from "../platform/app-hints";
import { resolveBuild } from "../platform/build-info";
import { createConsoleLogger } from "../platform/console-logger";
import { nodeTimers } from "../platform/node-timers";
import { FreeTokenHints } from "../platform/free-token-hints";
import { NotifyingWakeUp } from "../platform/notifying-wake-up";
import { realClock, realRandom, sleep } from "../platform/real-clock";
import { readMessageEncoding } from "../settings/queue-address";
import { countPoison } from "../platform/poison-queue";
import { checkHintQueue, createHintQueue } from "../platform/storage-hint-queue";
import { createStorageQueueWakeUp, noWakeUp } from "../platform/storage-queue-wake-up";
import type { Logger } from "../ports/logger";
import type { TaskStore } from "../ports/task-store";
import type { WakeUp } from "../ports/wake-up";
import type { Settings } from "../settings/settings";
import { checkStoreSchema, openStore, reportHolders } from "../store/open-store";
import type { DatabaseAddress } from "../store/open-store";
import type { AppKinds } from "./app-kinds";
import { hostProbe } from "./host-probe";
import { PatientCalls, patientStore } from "../store/patient-store";
import { expectWritable } from "../store/takes-writes";
import { storeAddress } from "./store-address";
import { showNumber } from "../terminal/output";
import type { Output } from "../terminal/output";

/** After this silence of the database, or of an app, the user is told. */
export const sayAfterMs = 3_000;

/** What a command works with, and how to end it. */
export interface Services {
  readonly admin: Admin;
  /** Ends all connections. */
  close(): Promise<void>;
  /** Does an abandoned call still hang? */
  hasGivenUp(): boolean;
}

/** How long to wait for a database that is silent, and who hears of it. */
export interface Waiting {
  readonly timeoutMs: number;
  /** For one call that reads the whole database. */
  readonly wholeMs: number;
  readonly onSlow: (text: string) => void;
  /** Told besides of a database that is silent because a session holds its rows. */
  readonly onHolders: (text: string) => void;
}

/** Who hears of it, for how long a silent database is waited for, and what the app's code says of new tasks. */
export interface Surroundings {
  readonly output: Output;
  readonly waiting: Waiting;
  readonly appKinds: AppKinds;
}

/** Opens store, queue and admin. Nothing is sent before the first call. */
export function openServices(
  settings: Settings,
  { output, waiting, appKinds }: Surroundings,
): Services {
  const logger = createConsoleLogger({
    level: settings.logLevel === "info" ? "warn" : settings.logLevel,
    form: "human",
    clock: realClock,
    // Standard output belongs to the result.
    write: (line) => {
      output.error(line);
    },
  });
  const address = storeAddress(settings);
  const { calls, opened, whole, store } = openStores(settings, waiting);
  const holders: DoctorProbe = {
    check: "held rows",
    run: async () => {
      const seen = await calls.run(() => reportHolders(opened, address.schema), { reads: true });
      return seen ?? "Not read from this database.";
    },
  };
  const admin = createAdmin({
    store,
    // To resident processes, and to the queue of the app that a definition belongs to, else to the one of the settings.
    wakeUp: new NotifyingWakeUp({
      hints: openHints(settings, { store, logger }),
      store: () => store,
      clock: realClock,
      timers: nodeTimers,
    }),
    random: realRandom,
    timers: nodeTimers,
    build: resolveBuild(settings),
    completeTasks: (call, tasks) => appKinds.complete(call, tasks),
    traceUrl: settings.traceUrl,
    probes: [
      {
        check: "schema",
        run: async () => {
          await calls.run(() => checkStoreSchema(address), { reads: true });
          return "The schema fits this version.";
        },
      },
      { check: "writes", run: () => calls.run(() => expectWritable(opened), { reads: true }) },
      holders,
      hostProbe,
      queueProbe(settings),
      poisonProbe(settings),
    ],
  });
  // An abandoned call hangs: its end isn't waited for, either.
  const close = (): Promise<void> => {
    calls.hush();
    const closed = Promise.all([opened.close(), whole.close()]).then(() => undefined);
    closed.catch(() => undefined);
    return calls.hasGivenUp ? Promise.resolve() : closed;
  };
  return { admin, close, hasGivenUp: () => calls.hasGivenUp };
}

/** Longest look for sessions that hold rows, beside a call that waits. */
const lookMs = 3_000;

/** On a connection of its own, once: views of the server answer while rows and tables are locked. Never rejects. */
async function lookForHolders(
  address: DatabaseAddress,
  onHolders: (text: string) => void,
): Promise<void> {
  const bounds = { connectionsMax: 1, callTimeoutMs: lookMs, connectTimeoutMs: lookMs };
  const store = openStore({
    ...address,
    ...bounds,
    random: realRandom,
    sleep,
    goesOn: () => false,
  });
  try {
    const seen = await reportHolders(store, address.schema);
    if (seen?.status === "note") onHolders(seen.text);
  } catch {
    // It is silent for another reason, which the call itself tells.
  } finally {
    await store.close().catch(() => undefined);
  }
}

/** The store for calls that a person waits for, and the parts that it is made of. */
function openStores(settings: Settings, waiting: Waiting) {
  const address = storeAddress(settings);
  const calls = new PatientCalls({
    ...waiting,
    onSlow: (text) => {
      waiting.onSlow(text);
      void lookForHolders(address, waiting.onHolders);
    },
    sayAfterMs,
    timers: nodeTimers,
  });
  const options = {
    ...address,
    connectionsMax: settings.connectionsMax,
    random: realRandom,
    sleep,
    onRepeat: (error: unknown) => {
      calls.noteTrouble(error);
    },
    onTry: () => {
      calls.noteTry();
    },
    // For as long as the person was told.
    goesOn: () => !calls.hasGivenUp,
  };
  const opened = openStore({ ...options, callTimeoutMs: settings.callTimeoutMs });
  // A call that isn't answered in time is made again, while the server still works at the first one: twice the whole database.
  // Nor again and again for an hour, where the login's `statement_timeout` ends it each time.
  const whole = openStore({ ...options, callTimeoutMs: waiting.wholeMs, goesOn: () => false });
  const store = patientStore(opened, calls, { store: whole, timeoutMs: waiting.wholeMs });
  return { calls, opened, whole, store };
}

function queueProbe({ storage, hintQueue }: Settings): DoctorProbe {
  const unknown =
    "No queue is known here (AzureWebJobsStorage): only the sweep and `taskgate work` find work.";
  return {
    check: "hint queue",
    run: () => (storage === null ? Promise.resolve(unknown) : checkHintQueue(storage, hintQueue)),
  };
}

function poisonProbe({ storage, ingestQueue, hintQueue }: Settings): DoctorProbe {
  const queues = { ingest: ingestQueue, hints: hintQueue };
  return {
    check: "poison queues",
    run: async () => {
      if (storage === null) return "No queue is known here (AzureWebJobsStorage).";
      const notes: string[] = [];
      for (const [word, name] of Object.entries(queues)) {
        const count = await countPoison(storage, name);
        if (count > 0)
          notes.push(
            `${name}-poison holds about ${showNumber(count, "message", "messages")}: \`taskgate replay ${word} --dry-run\` tells the reasons.`,
          );
      }
      return notes.length === 0
        ? "No message is in them."
        : { status: "note", text: notes.join(" ") };
    },
  };
}

function openHints(
  { storage, hintQueue, sweepSchedule }: Settings,
  { store, logger }: { store: TaskStore; logger: Logger },
): WakeUp {
  if (storage === null) return noWakeUp;
  const queue = createHintQueue(storage, hintQueue, readMessageEncoding());
  const services = { clock: realClock, timers: nodeTimers, logger };
  const wakeUp = createStorageQueueWakeUp({ ...services, queue });
  const hints = new AppHints({
    ...services,
    own: { wakeUp, address: null, sweepSchedule, isReached: () => true },
    isOwn: () => false,
    storage,
    store,
  });
  return new FreeTokenHints({ ...services, hints, store: () => store });
}
