import { setTimeout as sleep } from "node:timers/promises";
import { cpuMs, nowMs } from "./recorder.ts";
import type { Payload, QueueSystem } from "./system.ts";

const bulkSize = 10_000;
/** With the other members about 300 bytes as JSON. */
const text = "x".repeat(230);

function payloadOf(n: number, groups = 0): Payload {
  return { n, group: groups === 0 ? "" : `group-${n % groups}`, sentAt: String(nowMs()), text };
}

async function timed(body: () => Promise<void>): Promise<{ ms: number; cpuMs: number }> {
  const startedMs = nowMs();
  const usedMs = cpuMs();
  await body();
  return { ms: nowMs() - startedMs, cpuMs: cpuMs() - usedMs };
}

/** Payloads are made before the time is taken. */
export async function enqueueBulk(
  system: QueueSystem,
  asked: { readonly count: number; readonly groups: number; readonly dueAtMs: number | null },
): Promise<{ ms: number; cpuMs: number }> {
  const { count, groups, dueAtMs } = asked;
  const payloads = Array.from({ length: count }, (_, n) => payloadOf(n, groups));
  const dueAt = dueAtMs === null ? null : new Date(dueAtMs);
  return timed(async () => {
    for (let from = 0; from < count; from += bulkSize)
      await system.enqueueBulk(payloads.slice(from, from + bulkSize), dueAt);
  });
}

export async function enqueueSingly(
  system: QueueSystem,
  count: number,
  callers: number,
): Promise<{ ms: number; cpuMs: number }> {
  let next = 0;
  const caller = async (): Promise<void> => {
    while (next < count) await system.enqueueOne(payloadOf(next++));
  };
  return timed(async () => {
    await Promise.all(Array.from({ length: callers }, caller));
  });
}

/** A pause of 10 to 30 ms before each: the system is idle in between. */
export async function trickle(system: QueueSystem, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    await sleep(10 + 20 * Math.random());
    await system.enqueueOne(payloadOf(n));
  }
}
