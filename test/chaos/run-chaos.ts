import { sleep } from "../../shared/platform/real-clock";
import type { HintCounts } from "./hint-queue";
import {
  judgeAcks,
  judgeAsking,
  judgeClocks,
  judgeOrder,
  judgeReturns,
  judgeStays,
} from "./judge-ledger";
import { judgeCost } from "./judge-cost";
import { judgeEnds } from "./judge-ends";
import { judgeOverlaps } from "./judge-overlaps";
import { machineMs } from "./machine-clock";
import { deliver, sweepOnce } from "./delivery";
import { comeToEnd } from "./ending";
import type { ChaosOptions } from "./options";
import { openScene } from "./scene";
import type { Scene } from "./scene";
import { makeTrouble } from "./troubles";
import type { Verdict } from "./verdict";

/** What a run came to. */
export interface ChaosResult {
  readonly options: ChaosOptions;
  readonly plant: string | null;
  readonly verdict: Verdict;
  /** Since the hosts were started until something was found broken; null: nothing was. */
  readonly foundMs: number | null;
  readonly tookMs: number;
  readonly happened: ReadonlyMap<string, number>;
  readonly hints: HintCounts;
  readonly fed: { tasks: number; calls: number; failed: number; repeated: number; sameKey: number };
  readonly begun: number;
  readonly hostsStarted: number;
  readonly notes: readonly string[];
}

/** What goes with a run. */
export interface RunTogether {
  /** A fault that is planted; the run ends when it is found. */
  readonly plant?: string | null;
  readonly onProgress: (line: string) => void;
  /** Ends the run at once, without a judgement. */
  readonly signal: AbortSignal;
}

/** No more tasks are added while so many wait. */
const waitingMax = 150;
/** Overlaps are judged again as far back: what a host has written meanwhile may be read late. */
const judgeBackMs = 30_000;

/** Troubles for as long as the options say, then all comes to its end and is judged. With a plant it ends when that is found. */
export async function runChaos(
  options: ChaosOptions,
  { plant = null, onProgress, signal }: RunTogether,
): Promise<ChaosResult> {
  const scene = await openScene(options, plant);
  const startedMs = machineMs();
  try {
    for (let index = 0; index < options.hosts; index += 1) scene.startHost(1 + (index % 2));
    const foundMs = await withTroubles(scene, { startedMs, onProgress, signal });
    signal.throwIfAborted();
    if (plant === null || foundMs === null) {
      await comeToEnd(scene, { onProgress, signal });
      await judgeAll(scene);
    }
    return resultOf(scene, { startedMs, foundMs });
  } finally {
    scene.hosts.killAll();
    await scene.close();
  }
}

async function withTroubles(
  scene: Scene,
  { startedMs, onProgress, signal }: RunTogether & { startedMs: number },
): Promise<number | null> {
  const { options, verdict, hosts, feeder, observer, dice, plant } = scene;
  const endMs = startedMs + options.minutes * 60_000;
  let foundMs: number | null = null;
  const isOver = (): boolean =>
    signal.aborted || machineMs() >= endMs || (plant !== null && foundMs !== null);
  const every = async (ms: () => number, act: () => unknown): Promise<void> => {
    while (!isOver()) {
      await act();
      await sleep(ms());
    }
  };
  let last = "";
  const judge = async (): Promise<void> => {
    await observer.checkInvariants(false);
    judgeSoFar(scene, machineMs() - judgeBackMs);
    if (!verdict.isGood) foundMs ??= machineMs() - startedMs;
    const { flights } = scene.book;
    onProgress(
      `${((machineMs() - startedMs) / 1_000).toFixed(0)} s: ${String(flights.length)} begun, ${String(observer.unfinished)} wait, ` +
        `${String(hosts.awake.length)} of ${String(hosts.all.length)} hosts awake; last: ${last}${verdict.isGood ? "" : "; BROKEN"}`,
    );
  };
  await Promise.all([
    every(
      () => 25,
      () => {
        deliver(scene);
      },
    ),
    every(
      () => 250,
      () => (observer.unfinished < waitingMax ? feeder.turn() : undefined),
    ),
    every(
      () => 1_000,
      () => observer.look(),
    ),
    every(
      () => 1_000,
      () => {
        sweepOnce(scene);
      },
    ),
    every(() => (plant === null ? 5_000 : 2_000), judge),
    // Hosts have begun by then.
    sleep(3_000).then(() =>
      every(
        () => dice.int(200, 1_600),
        async () => {
          last = await makeTrouble(scene);
        },
      ),
    ),
    every(
      () => 500,
      () => {
        if (hosts.all.length < options.hosts) scene.startHost(dice.int(1, 3));
      },
    ),
  ]);
  return foundMs;
}

function judgeSoFar({ book, hosts, limits, verdict }: Scene, sinceMs: number): void {
  book.read();
  judgeOverlaps({ book, halts: hosts.halts, limits: limits.changes, sinceMs }, verdict);
  judgeAcks(book, verdict);
}

/** Once, when everything has been written. */
async function judgeAll(scene: Scene): Promise<void> {
  const { book, hosts, verdict, feeder, observer, server } = scene;
  judgeSoFar(scene, 0);
  judgeOrder(book, feeder.operations, verdict);
  judgeReturns(book, hosts.halts, verdict);
  judgeStays(book, hosts.halts, verdict);
  judgeAsking(book, verdict);
  judgeClocks(book, verdict);
  await judgeEnds(
    { client: await observer.client(), book, operations: feeder.operations },
    verdict,
  );
  await observer.checkInvariants(true);
  await judgeCost(server, verdict);
}

function resultOf(
  scene: Scene,
  { startedMs, foundMs }: { startedMs: number; foundMs: number | null },
): ChaosResult {
  const { options, plant, verdict, happened, queue, feeder, book, notes } = scene;
  const tookMs = machineMs() - startedMs;
  const tasks = new Set(feeder.operations.flatMap(({ taskIds }) => taskIds)).size;
  return {
    options,
    plant,
    verdict,
    foundMs: foundMs ?? (verdict.isGood ? null : tookMs),
    tookMs,
    happened,
    hints: queue.counts,
    fed: { tasks, ...feeder.counts },
    begun: book.flights.length,
    hostsStarted: book.born.size,
    notes,
  };
}
