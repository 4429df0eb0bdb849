import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import type { TaskStore } from "../../shared/ports/task-store";
import { openStore } from "../../shared/store/open-store";
import { createRegistry } from "../../shared/worker/define/registry";
import { Dice } from "../support/dice";
import { urlAs } from "../support/roles";
import type { Role } from "../support/roles";
import { Book } from "./book";
import { SmallDisk } from "./disk";
import { Feeder } from "./feeder";
import { HintQueue } from "./hint-queue";
import type { HostNews } from "./host-messages";
import { Hosts } from "./hosts";
import type { Host } from "./hosts";
import { Limits } from "./limits";
import { Network } from "./network";
import { Observer } from "./observer";
import type { ChaosOptions } from "./options";
import { kindsOf, mainName, sharedName, sideName } from "./plan";
import { plantSql } from "./planted-sql";
import { ChaosServer } from "./server";
import { Verdict } from "./verdict";

/** Debian's libfaketime, where it is installed. */
const fakeTimePlaces = [
  "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
  "/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1",
];
/** The newest build that hosts may be of. */
export const newestBuild = 3;

/** Everything of one run. */
export interface Scene {
  readonly options: ChaosOptions;
  readonly plant: string | null;
  readonly dice: Dice;
  readonly server: ChaosServer;
  /** Where its data lie, when that may be filled. */
  readonly disk: SmallDisk | null;
  readonly network: Network;
  readonly hosts: Hosts;
  readonly queue: HintQueue;
  readonly feeder: Feeder;
  readonly limits: Limits;
  readonly observer: Observer;
  readonly book: Book;
  readonly verdict: Verdict;
  /** How often what happened. */
  readonly happened: Map<string, number>;
  /** What this machine can't do. */
  readonly notes: string[];
  /** Starts another host of that build, with a clock that may be wrong. */
  startHost(build: number): void;
  /** The calls each host has made, by its name, as it last told. */
  readonly told: Map<string, Extract<HostNews, { is: "count" }>>;
  close(): Promise<void>;
}

/** Opens all but the hosts: the caller starts them. */
export async function openScene(options: ChaosOptions, plant: string | null): Promise<Scene> {
  const folder = await mkdtemp(join(tmpdir(), "taskgate-chaos-"));
  // The server runs as another user where this process is root's.
  await chmod(folder, 0o755);
  const ledgers = join(folder, "ledgers");
  await mkdir(ledgers);
  const verdict = new Verdict();
  const mounted = options.without.includes("disk") ? null : await SmallDisk.mount(folder);
  const disk = mounted instanceof SmallDisk ? mounted : null;
  const notes = typeof mounted === "string" ? [mounted] : [];
  const server = await ChaosServer.start(disk?.path ?? folder);
  const network = await Network.start(() => server.port);
  const observer = new Observer(server, verdict);
  const stores: TaskStore[] = [];
  const open = (role: Role): TaskStore => {
    const url = network.reach(urlAs(server.url, role));
    const limits = { connectionsMax: 4, callTimeoutMs: 5_000, connectTimeoutMs: 3_000 };
    const store = openStore({ url, ...limits, random: realRandom, sleep });
    stores.push(store);
    return store;
  };
  const worker = open("worker");
  await registerDefinitions(worker);
  const limits = new Limits(open("operator"));
  for (const [name, limit] of [
    [mainName, 5],
    [sideName, 3],
    [sharedName, 7],
  ] as const)
    await limits.set(name, limit);
  if (plant !== null) await plantSql(await observer.client(), plant);
  const base = {
    options,
    plant,
    server,
    disk,
    network,
    observer,
    limits,
    verdict,
    notes,
    ledgers,
    worker,
  };
  return {
    ...assemble(base),
    close: async () => {
      limits.end();
      await Promise.allSettled(stores.map((store) => store.close()));
      await observer.close();
      await network.close();
      await server.close();
      await disk?.unmount();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

type Base = Pick<
  Scene,
  "options" | "plant" | "server" | "disk" | "network" | "observer" | "limits" | "verdict" | "notes"
> & {
  readonly ledgers: string;
  readonly worker: TaskStore;
};

function assemble(base: Base): Omit<Scene, "close"> {
  const { options, server, network, verdict, ledgers, worker, plant, notes } = base;
  const dice = new Dice(options.seed);
  const queue = new HintQueue(new Dice(options.seed + 1));
  const told: Scene["told"] = new Map();
  const onNews = (host: Host, news: HostNews): void => {
    if (news.is === "hint") queue.push(news.definition, news.inMs);
    if (news.is === "count") told.set(host.name, news);
  };
  const fakeTime = fakeTimePlaces.find((place) => existsSync(place)) ?? null;
  if (fakeTime === null)
    notes.push("libfaketime isn't installed: only the worker's own clock was wrong");
  const hosts = new Hosts(onNews, fakeTime);
  const feeder = new Feeder({
    store: worker,
    dice: new Dice(options.seed + 2),
    onBroken: (rule, detail) => {
      verdict.broken(rule, detail);
    },
    onAdded: (definition) => {
      queue.push(definition, 0);
    },
    isNewKnown: () => hosts.awake.some(({ build }) => build > 1),
  });
  let started = 0;
  const startHost = (build: number): void => {
    started += 1;
    const name = `h${String(started)}b${String(build)}`;
    const isSkewed = !options.without.includes("clock") && dice.percent(30);
    hosts.start({
      url: network.reach(urlAs(server.url, "worker")),
      name,
      ledger: join(ledgers, `${name}.jsonl`),
      build,
      skewMs: isSkewed ? dice.pick([-7_200_000, -3_600_000, 3_600_000, 7_200_000]) : 0,
      seed: dice.int(1, 1_000_000),
      plant,
    });
  };
  const { disk, observer, limits } = base;
  const parts = { options, plant, server, disk, network, observer, limits, verdict, notes };
  const book = new Book(ledgers);
  return { ...parts, dice, hosts, queue, feeder, book, happened: new Map(), told, startHost };
}

/** Before any host is there, so that operators can set limits. */
async function registerDefinitions(store: TaskStore): Promise<void> {
  for (const definition of createRegistry(kindsOf(1, async () => null)).definitions) {
    const { name, settings, settingsHash, kinds } = definition;
    const known = { name, build: 1, settings, settingsHash, registeredBy: "chaos" };
    await store.registerDefinition(kinds === undefined ? known : { ...known, kinds });
  }
}
