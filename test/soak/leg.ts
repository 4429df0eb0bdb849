import { Client } from "pg";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import type { TaskStore } from "../../shared/ports/task-store";
import { openStore } from "../../shared/store/open-store";
import { newSeed } from "../support/builders";
import { Dice } from "../support/dice";
import { urlAs } from "../support/roles";
import { EndedTasks } from "./ended-tasks";
import { Feeder } from "./feeder";
import { LedgerJudge } from "./judge";
import { openLedger } from "./ledger";
import type { WriteEntry } from "./ledger";
import { LedgerReader } from "./ledger-reader";
import type { SoakOptions } from "./options";
import type { Leg, RunFolder } from "./run-folder";
import { watchStandstill } from "./standstill";
import { Sampler } from "./sampler";
import { SoakServer } from "./soak-server";
import { makeTroubles, pause } from "./troubles";
import { endLeftWorkers, Workers } from "./workers";

/** Entries of so long ago are in the ledger: a frozen process writes late. */
const judgeBackMs = 45_000;
/** Nothing ran on the computer for a second or longer, this program neither. */
const standstill = "at a standstill with the whole computer";
const readEveryMs = 5_000;
/** No task comes to its end for so long: the rest is lost. */
const drainStuckMs = 180_000;

/** What people see, and how they end a run. */
export interface RunTogether {
  readonly onProgress: (share: number, text: string) => void;
  /** Ends the leg; the folder can go on. */
  readonly signal: AbortSignal;
}

/** Everything of one leg. */
interface Scene {
  readonly folder: RunFolder;
  readonly leg: Leg;
  readonly server: SoakServer;
  readonly client: Client;
  readonly operator: TaskStore;
  readonly workers: Workers;
  readonly feeder: Feeder;
  readonly ended: EndedTasks;
  readonly judge: LedgerJudge;
  readonly reader: LedgerReader;
  readonly sampler: Sampler;
  readonly write: WriteEntry;
}

/** Goes on with a run until its time is over and everything has come to its end, or until `signal`. */
export async function runLeg(
  folder: RunFolder,
  options: SoakOptions,
  together: RunTogether,
): Promise<void> {
  endLeftWorkers(folder.pids);
  const server = await SoakServer.start(folder.data);
  try {
    const scene = await openScene(folder, server);
    try {
      await load(scene, options, together);
      if (!together.signal.aborted) await drain(scene, together);
      await scene.workers.stopAll();
      scene.write({ is: "leg", atMs: Date.now(), what: "stopped" });
      scene.leg.isStopped = true;
    } finally {
      scene.workers.killAll();
      folder.state.crashes.push(...scene.workers.crashes);
      folder.save();
      await Promise.allSettled([scene.feeder.close(), scene.operator.close(), scene.client.end()]);
    }
  } finally {
    await server.stop();
  }
}

async function openScene(folder: RunFolder, server: SoakServer): Promise<Scene> {
  const { state } = folder;
  const write = openLedger(folder.ledger, "soak");
  const number = state.legs.length + 1;
  state.build += 1;
  const client = new Client({ connectionString: server.url });
  client.on("error", () => undefined);
  await client.connect();
  const url = urlAs(server.url, "worker");
  const operator = openStore({
    url: urlAs(server.url, "operator"),
    connectionsMax: 2,
    random: realRandom,
    sleep,
  });
  const places = { url, ledgerFolder: folder.ledger, pidFolder: folder.pids, logFile: folder.log };
  const workers = new Workers({ ...places, scale: state.scale, write, leg: number });
  const dice = new Dice(newSeed());
  const feeder = new Feeder({ url, operator, scale: state.scale, build: state.build, dice, write });
  const ended = new EndedTasks(client, {
    write,
    onDead: (task) => {
      feeder.noteDead(task);
    },
  });
  const judge = new LedgerJudge(state.scale);
  const reader = new LedgerReader(folder.ledger);
  const sampler = new Sampler({ client, serverPid: server.pid, workers, judge, leg: number });
  watchStandstill(() => {
    folder.count(standstill);
  });
  const leg: Leg = { startedAtMs: Date.now(), lastSeenMs: Date.now(), isStopped: false };
  // What ended at the end of the last leg is read before anything runs.
  await ended.read();
  const parts = { folder, leg, server, client, operator, workers, feeder, ended };
  return { ...parts, judge, reader, sampler, write };
}

/** The load, its troubles and the samples, until the time is over. */
async function load(scene: Scene, options: SoakOptions, together: RunTogether): Promise<void> {
  const { folder, workers, feeder, server, leg, write } = scene;
  const runMs = options.hours * 3_600_000;
  judgeSoFar(scene);
  scene.judge.takeWaits();
  const before = folder.ranMs;
  const startedMs = Date.now();
  if (before >= runMs) {
    startWorkers(scene, options.workers);
    return;
  }
  write({ is: "leg", atMs: startedMs, what: "started" });
  Object.assign(leg, { startedAtMs: startedMs, lastSeenMs: startedMs });
  folder.state.legs.push(leg);
  folder.state.isDrained = false;
  folder.save();
  startWorkers(scene, options.workers);
  const end = new AbortController();
  const signal = AbortSignal.any([end.signal, together.signal]);
  const dice = new Dice(newSeed());
  const troubles = { workers, folder, dice, count: options.workers, runMs };
  const over = sleep(Math.max(0, runMs - before), signal).catch(() => undefined);
  const isUp = server.exited.then((words) => {
    if (!signal.aborted) throw new Error(`The server ended: ${words}`);
  });
  const work = Promise.all([
    feeder.run(signal),
    makeTroubles(troubles, signal),
    repeat({ ms: readEveryMs, signal }, () => look(scene)),
    repeat({ ms: options.sampleMs, signal }, () => sample(scene)),
    repeat({ ms: 1_000, signal }, async () => {
      leg.lastSeenMs = Date.now();
      folder.save();
      together.onProgress(folder.ranMs / runMs, progressText(scene));
    }),
  ]);
  try {
    await Promise.race([over, work, isUp]);
  } finally {
    end.abort();
  }
  await work;
  await look(scene);
  leg.lastSeenMs = Date.now();
}

function startWorkers({ workers, folder }: Scene, count: number): void {
  workers.start(folder.state.build, { isElder: true });
  while (workers.all.length < count) workers.start(folder.state.build);
}

/** The first time after a pause. */
async function repeat(
  { ms, signal }: { ms: number; signal: AbortSignal },
  act: () => Promise<void>,
): Promise<void> {
  while (await pause(ms, signal)) await act();
}

async function look(scene: Scene): Promise<void> {
  await scene.ended.read();
  judgeSoFar(scene);
}

function judgeSoFar({ reader, judge }: Scene): void {
  for (const entries of reader.read()) {
    judge.tell(entries);
    judge.judgeUntil(Date.now() - judgeBackMs);
  }
}

async function sample(scene: Scene): Promise<void> {
  const { sampler, folder } = scene;
  judgeSoFar(scene);
  folder.addSample(await sampler.take(folder.ranMs));
}

function progressText({ judge, workers, folder }: Scene): string {
  const wrong = judge.findings.total;
  return (
    `${(folder.ranMs / 60_000).toFixed(1)} min, ${String(judge.begun)} begins, ` +
    `${String(workers.awake.length + 1)} of ${String(workers.all.length)} workers awake` +
    (wrong > 0 ? `, ${String(wrong)} VIOLATIONS` : "")
  );
}

/** Everything comes to its end: nothing is added, nothing disturbs. */
async function drain(scene: Scene, { onProgress, signal }: RunTogether): Promise<void> {
  const { client, feeder, ended, folder } = scene;
  let least = Number.POSITIVE_INFINITY;
  let lastMs = Date.now();
  while (!signal.aborted) {
    await ended.read();
    const dead = await feeder.redrive();
    const left = dead + (await unfinished(client));
    if (left === 0) break;
    if (left < least) {
      least = left;
      lastMs = Date.now();
    }
    if (Date.now() - lastMs > drainStuckMs) break;
    onProgress(1, `${String(left)} tasks come to their end`);
    await sleep(1_000);
  }
  if (signal.aborted) return;
  await ended.read();
  folder.state.database = await checkDatabase(client);
  folder.state.isDrained = true;
}

async function unfinished(client: Client): Promise<number> {
  const { rows } = await client.query<{ tasks: number }>(
    "select count(*)::int as tasks from taskgate.task",
  );
  return rows[0]?.tasks ?? 0;
}

/** The store's own check, on a quiet database, and the server's count of deadlocks. */
async function checkDatabase(client: Client): Promise<{ findings: string[]; deadlocks: number }> {
  const { rows } = await client.query<{ findings: string; deadlocks: number }>(
    `select (select findings from taskgate.check_invariants()) as findings,
            (select deadlocks::int from pg_stat_database where datname = current_database()) as deadlocks`,
  );
  const found = JSON.parse(rows[0]?.findings ?? "[]") as Record<string, string>[];
  return {
    findings: found.map(
      ({ rule, key, detail }) => `${String(rule)}: ${String(key)}, ${String(detail)}`,
    ),
    deadlocks: rows[0]?.deadlocks ?? 0,
  };
}
