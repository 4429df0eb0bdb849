import { join } from "node:path";
import { QueueServiceClient } from "@azure/storage-queue";
import type { QueueClient } from "@azure/storage-queue";
import type { HostChild } from "../../../shared/local/host-children";
import { realRandom, sleep } from "../../../shared/platform/real-clock";
import type { DefinitionSettings } from "../../../shared/ports/task-store";
import { openStore } from "../../../shared/store/open-store";
import { moreTasks, root, startApp } from "../../functions/built-app";
import { defaultSettings } from "../../support/builders";
import { startOutageServer } from "./servers";
import type { OutageKind, OutageServer } from "./servers";

/**
 * One outage from its begin to its end: the compiled app in a local Functions host of its own process, a storage emulator,
 * and a database that goes away while events and hints come in.
 */
export interface OutagePlan {
  readonly kind: OutageKind;
  readonly events: number;
  /** How long the database is away, in the time of the app. */
  readonly outageMs: number;
  /** The app's time runs so many times as fast. */
  readonly factor: number;
  /** So do the times for which queues hide messages; default: `factor`. */
  readonly visibilityFactor?: number;
  /** Of the emulator. */
  readonly connectionString: string;
}

/** The outcome. */
export interface OutageResult {
  readonly poisoned: { readonly events: number; readonly hints: number };
  /** Tasks that were made of the events, and different events among them. */
  readonly tasks: number;
  readonly ingested: number;
  /** Invocations that ended with success, and those that threw. */
  readonly deliveries: number;
  readonly failed: readonly string[];
  /** Longest invocation while the database was away, in the time of the app. */
  readonly longestMs: number;
  /** Connections that the app tried while the database was away; null: not counted. */
  readonly attempts: number | null;
  /** From the end of the outage until both queues were empty, in the time of this machine. */
  readonly drainMs: number;
}

const definition = "store";
const hints = 5;
const drainTimeoutMs = 400_000;

/** Of any kind: the definition is paused. */
const settings: DefinitionSettings = {
  ...defaultSettings,
  limit: 1,
  retainDoneMs: 86_400_000,
  retainDeadMs: 86_400_000,
};

/** Plays it. Throws when events are missing long after the outage. */
export async function playOutage(plan: OutagePlan): Promise<OutageResult> {
  const server = await startOutageServer(plan.kind);
  const queues = await openQueues(plan);
  const lines: string[] = [];
  let host: HostChild | undefined;
  try {
    await holdTasks(server);
    host = await startHost(plan, server, (line) => lines.push(line));
    await sendEvent(queues.ingest, "before");
    await until(() => countExecuted(lines).ingest > 0, 60_000);
    const tried = await server.attempts();
    const firstLine = lines.length;
    await server.away();
    const awayAtMs = performance.now();
    await sendEvents(queues.ingest, plan.events);
    await Promise.all(numbers(hints).map(() => sendHint(queues.hints)));
    await sleep(Math.max(0, plan.outageMs / plan.factor - (performance.now() - awayAtMs)));
    const triedAfter = await server.attempts();
    const longestMs = longest(lines.slice(firstLine));
    await server.back();
    const backAtMs = performance.now();
    await until(async () => (await count(queues.ingest)) + (await count(queues.hints)) === 0);
    const drainMs = performance.now() - backAtMs;
    const payloads = await readPayloads(server);
    const own = payloads.filter((eventId) => eventId.startsWith("event-"));
    const executed = countExecuted(lines);
    return {
      poisoned: {
        events: await count(queues.ingestPoison),
        hints: await count(queues.hintsPoison),
      },
      tasks: own.length,
      ingested: new Set(own).size,
      deliveries: executed.ingest + executed.run,
      failed: lines.flatMap((line, index) =>
        line.includes("(Failed") ? [`${line} ${lines[index + 1] ?? ""}`] : [],
      ),
      longestMs,
      attempts: tried === null || triedAfter === null ? null : triedAfter - tried,
      drainMs,
    };
  } finally {
    await host?.stop();
    await server.close();
  }
}

/** The tasks of the events stay where they are: the test looks at how they came. */
async function holdTasks(server: OutageServer): Promise<void> {
  const store = openStore({ url: server.directUrl, connectionsMax: 1, random: realRandom, sleep });
  try {
    await store.registerDefinition({
      name: definition,
      build: 0,
      settingsHash: "test",
      registeredBy: "test",
      settings,
    });
    await store.pauseDefinition({ name: definition, changedBy: "test" });
  } finally {
    await store.close();
  }
}

async function readPayloads(server: OutageServer): Promise<string[]> {
  const store = openStore({ url: server.directUrl, connectionsMax: 1, random: realRandom, sleep });
  const text =
    store.dialect === "postgres"
      ? "select t.payload from taskgate.task t"
      : "SELECT CONVERT(nvarchar(max), t.PayloadUtf8) AS payload FROM Taskgate.Task AS t";
  try {
    const rows = await store.transaction((tx) => tx.query(text));
    return rows.map((row) => (JSON.parse(String(row["payload"])) as { eventId: string }).eventId);
  } finally {
    await store.close();
  }
}

function startHost(
  plan: OutagePlan,
  server: OutageServer,
  onLine: (line: string) => void,
): Promise<HostChild> {
  const env = {
    NODE_OPTIONS: `-r ${join(root, "test/support/fast-time.cjs")} ${moreTasks}`,
    TASKGATE_TEST_TIME_FACTOR: String(plan.factor),
    TASKGATE_TEST_VISIBILITY_FACTOR: String(plan.visibilityFactor ?? plan.factor),
    TASKGATE_DATABASE_URL: server.url,
    AzureWebJobsStorage: plan.connectionString,
    ...queueSettings(plan),
    // Otherwise an idle host would look every 2 s of its fast time.
    AzureFunctionsJobHost__extensions__queues__maxPollingInterval: "00:00:20",
  };
  return startApp(env, onLine);
}

function queueSettings({ kind, factor }: OutagePlan): Record<string, string> {
  const name = `outage-${kind}-${String(factor)}`;
  return { TASKGATE_HINT_QUEUE: `${name}-hints`, TASKGATE_INGEST_QUEUE: `${name}-ingest` };
}

async function openQueues(
  plan: OutagePlan,
): Promise<Record<"hints" | "hintsPoison" | "ingest" | "ingestPoison", QueueClient>> {
  const service = QueueServiceClient.fromConnectionString(plan.connectionString);
  const settings = queueSettings(plan);
  const open = async (name: string): Promise<QueueClient> => {
    const queue = service.getQueueClient(name);
    await queue.createIfNotExists();
    return queue;
  };
  const { TASKGATE_HINT_QUEUE: hintQueue = "", TASKGATE_INGEST_QUEUE: ingestQueue = "" } = settings;
  return {
    hints: await open(hintQueue),
    hintsPoison: await open(`${hintQueue}-poison`),
    ingest: await open(ingestQueue),
    ingestPoison: await open(`${ingestQueue}-poison`),
  };
}

/** Some at a time: the emulator serves the app as well. */
async function sendEvents(queue: QueueClient, max: number): Promise<void> {
  const atOnce = 10;
  for (let first = 0; first < max; first += atOnce) {
    const few = numbers(Math.min(atOnce, max - first));
    await Promise.all(few.map((n) => sendEvent(queue, `event-${String(first + n)}`)));
  }
}

async function sendEvent(queue: QueueClient, eventId: string): Promise<void> {
  const event = {
    eventId,
    source: "landing",
    type: "parcel-landed",
  };
  await queue.sendMessage(Buffer.from(JSON.stringify(event)).toString("base64"));
}

async function sendHint(queue: QueueClient): Promise<void> {
  const hint = JSON.stringify({ taskDefinition: definition });
  await queue.sendMessage(Buffer.from(hint).toString("base64"));
}

async function count(queue: QueueClient): Promise<number> {
  return (await queue.getProperties()).approximateMessagesCount ?? 0;
}

function countExecuted(lines: readonly string[]): { ingest: number; run: number } {
  const of = (name: string): number =>
    lines.filter((line) => line.includes(`Executed '${name}' (Succeeded`)).length;
  return { ingest: of("ingest"), run: of("run") };
}

/** Of the invocations that ended, by the host's own measure, which is in the time of the app. */
function longest(lines: readonly string[]): number {
  const times = lines.map((line) =>
    Number(/Executed '\w+' \(\w+, (\d+) ms\)/.exec(line)?.[1] ?? 0),
  );
  return Math.max(0, ...times);
}

function numbers(max: number): number[] {
  return Array.from({ length: max }, (_, index) => index);
}

async function until(
  what: () => boolean | Promise<boolean>,
  timeoutMs = drainTimeoutMs,
): Promise<void> {
  const endMs = performance.now() + timeoutMs;
  while (!(await what())) {
    if (performance.now() > endMs) throw new Error("It took too long");
    await sleep(100);
  }
}
