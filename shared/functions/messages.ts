import { writePutBack, writeRefused } from "../admin/delivery";
import { realClock, realRandom } from "../platform/real-clock";
import type { Services } from "./services";

/** Messages that don't end with their invocation: put back for later, or refused for good. */

/** The queues that the app listens to. */
export type OwnQueue = "hints" | "ingest";

/** A message, and how often it has been put back before. */
export interface Deferred {
  readonly message: unknown;
  readonly tries: number;
}

/** First delay of a message that is put back, doubled with each further one, up to `delayMaxMs`; up to a quarter less by chance. */
const delayFirstMs = 20_000;
const delayMaxMs = 300_000;

/** How long a message stays away that was put back `tries` times before: 15 s .. 5 min. */
export function putBackDelayMs(tries: number, fraction: number): number {
  const fullMs = Math.min(delayMaxMs, delayFirstMs * 2 ** Math.min(tries, 10));
  return fullMs * (1 - fraction / 4);
}

/**
 * Puts a message back into its queue, with its count, to be seen after a while. The caller returns normally afterwards:
 * the host deletes the message that it delivered. A crash in between delivers both, which is harmless. Throws when the
 * storage refuses: then the host delivers again.
 */
export async function putBack(
  services: Services,
  queue: OwnQueue,
  deferred: Deferred,
): Promise<void> {
  await send(services, queue, { ...deferred, inSeconds: delaySeconds(deferred) });
}

/** Puts a message into the poison queue at once, with the reason: no further try would read it otherwise. */
export async function refuse(
  services: Services,
  queue: OwnQueue,
  { message, reason }: { message: unknown; reason: string },
): Promise<void> {
  const text = writeRefused(message, reason);
  if (text === null) throw new Error(reason);
  const name = `${nameOf(services, queue)}-poison`;
  await services.queue(name).send(text, 0);
  services.logger.error("a message was refused", { queue: name, reason });
  services.telemetry.count("taskgate.message.refused", 1, { queue });
}

/** Until when (monotonic) the hint that this process left last for the same is still on its way. */
const hintsDueMs = new Map<string, number>();
const hintsMax = 1_000;
/** The storage's clock is another one. */
const clockSlackMs = 1_000;

/**
 * Leaves a delayed hint in place of one that could not be followed, unless one of this process is on its way and comes
 * about as soon: each hint leaves one at most, so they become fewer, never more.
 */
export async function deferHint(services: Services, hint: Deferred): Promise<void> {
  const key = JSON.stringify(hint.message);
  const inSeconds = delaySeconds(hint);
  const nowMs = realClock.monotonicMs();
  const pendingMs = hintsDueMs.get(key) ?? 0;
  if (pendingMs > nowMs && pendingMs <= nowMs + putBackDelayMs(hint.tries, 0)) return;
  if (hintsDueMs.size >= hintsMax) hintsDueMs.clear();
  // Before it is sent: others come meanwhile.
  hintsDueMs.set(key, nowMs + inSeconds * 1_000 - clockSlackMs);
  try {
    await send(services, "hints", { ...hint, inSeconds });
  } catch (error) {
    hintsDueMs.delete(key);
    throw error;
  }
}

async function send(
  services: Services,
  queue: OwnQueue,
  { message, tries, inSeconds }: Deferred & { inSeconds: number },
): Promise<void> {
  const text = writePutBack(message, tries + 1);
  if (text === null) throw new Error("A message grew by reading it and can't be put back");
  await services.queue(nameOf(services, queue)).send(text, inSeconds);
  services.telemetry.count("taskgate.message.deferred", 1, { queue });
}

function delaySeconds({ tries }: Deferred): number {
  return Math.ceil(putBackDelayMs(tries, realRandom.fraction()) / 1_000);
}

function nameOf({ settings }: Services, queue: OwnQueue): string {
  return queue === "hints" ? settings.hintQueue : settings.ingestQueue;
}
