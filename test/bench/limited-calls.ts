import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { sleep } from "../../shared/platform/real-clock";
import { quantile } from "./measurement";
import type { Measurement, Scale } from "./measurement";

interface Count {
  readonly calls: number;
  readonly firstMs: number | null;
  readonly waits: readonly number[];
}

interface Shape {
  readonly url: string;
  readonly limit: number;
  readonly bodyMs: number;
  readonly callers: number;
  /** Left out: each caller calls again at once. */
  readonly silenceMs?: number;
}

/**
 * Calls under a limit without tasks: how fast one process is beside another one, how even three are, and how long calls wait for
 * one token that is seldom used.
 */
export async function limitedCalls(url: string, scale: Scale): Promise<Measurement[]> {
  return [
    ...(await besideAnother(url, scale)),
    ...(await threeAtFour(url, scale)),
    ...(await fiveAtOne(url, scale)),
  ];
}

/** Empty bodies, limit 16: the first process, while a second one comes and is served. */
async function besideAnother(url: string, scale: Scale): Promise<Measurement[]> {
  const shape = { url, limit: 16, bodyMs: 0, callers: 32 };
  const first = start(shape);
  await untilServed(first);
  const second = start(shape);
  const served = await untilServed(second);
  const [one = 0, two = 0] = await countOver([first, second], scale.seconds);
  await stop([first, second]);
  const scenario = "limited calls, limit 16, empty bodies, two processes:";
  return [
    {
      scenario: `${scenario} the first one's`,
      unit: "calls/s",
      value: one / scale.seconds,
      goal: 100_000,
    },
    {
      scenario: `${scenario} the second is served after`,
      unit: "ms",
      value: served.firstMs ?? Infinity,
      goal: 500,
      isLessBetter: true,
    },
    {
      scenario: `${scenario} the second one's part`,
      unit: "of all",
      value: two / (one + two),
      goal: 0.2,
    },
  ];
}

/** Bodies of 20 ms, limit 4, three processes: how near to four at every instant, and the part of the poorest one. */
async function threeAtFour(url: string, scale: Scale): Promise<Measurement[]> {
  const shape = { url, limit: 4, bodyMs: 20, callers: 8 };
  const processes = [start(shape), start(shape), start(shape)];
  for (const one of processes) await untilServed(one);
  await sleep(2_000);
  const counts = await countOver(processes, scale.seconds);
  await stop(processes);
  const all = counts.reduce((sum, count) => sum + count, 0);
  const ideal = (4 * 1_000 * scale.seconds) / 20;
  const scenario = "limited calls, limit 4, bodies of 20 ms, three processes:";
  return [
    { scenario: `${scenario} all of them`, unit: "of ideal", value: all / ideal, goal: 0.95 },
    {
      scenario: `${scenario} the poorest one's part`,
      unit: "of all",
      value: Math.min(...counts) / all,
      goal: 0.2,
    },
  ];
}

/** Five processes, limit 1: up to six calls at once with bodies of 15 ms, then up to 1.5 s of silence. The token is used for a ninth of the time. */
async function fiveAtOne(url: string, scale: Scale): Promise<Measurement[]> {
  const shape = { url, limit: 1, bodyMs: 15, callers: 6, silenceMs: 1_500 };
  const processes = Array.from({ length: 5 }, () => start(shape));
  await sleep(4 * scale.seconds * 1_000);
  const counts = await Promise.all(processes.map(countOf));
  await stop(processes);
  const waits = counts.flatMap((count) => count.waits);
  const scenario = "limited calls, limit 1, five processes, a token used for a ninth of the time:";
  return [
    {
      scenario: `${scenario} a call waits, p50`,
      unit: "ms",
      value: quantile(waits, 0.5),
      goal: null,
      isLessBetter: true,
    },
    {
      scenario: `${scenario} p99`,
      unit: "ms",
      value: quantile(waits, 0.99),
      goal: null,
      isLessBetter: true,
    },
  ];
}

function start({ url, limit, bodyMs, callers, silenceMs = 0 }: Shape): ChildProcess {
  const register = join(__dirname, "../support/register-swc.cjs");
  const words = [url, ...[limit, bodyMs, callers, silenceMs].map(String)];
  return fork(join(__dirname, "limited-calls-process.ts"), words, { execArgv: ["-r", register] });
}

async function countOf(child: ChildProcess): Promise<Count> {
  const answered = once(child, "message");
  child.send("count");
  const [count] = (await answered) as [Count];
  return count;
}

/** Waits until a process has run its first body. */
async function untilServed(child: ChildProcess): Promise<Count> {
  for (let tries = 0; tries < 600; tries += 1) {
    const count = await countOf(child);
    if (count.firstMs !== null) return count;
    await sleep(25);
  }
  throw new Error("a process ran no body within 15 s");
}

/** Calls that each of them makes within so many seconds from now. */
async function countOver(children: readonly ChildProcess[], seconds: number): Promise<number[]> {
  const before = await Promise.all(children.map(countOf));
  await sleep(seconds * 1_000);
  const after = await Promise.all(children.map(countOf));
  return after.map(({ calls }, at) => calls - (before[at]?.calls ?? 0));
}

async function stop(children: readonly ChildProcess[]): Promise<void> {
  const ended = children.map((child) => once(child, "exit"));
  for (const child of children) child.kill("SIGTERM");
  await Promise.all(ended);
}
