import { setTimeout as sleep } from "node:timers/promises";

/** How long the partner takes for one block. */
const partnerMs = 1_000;

/**
 * Stands for the API of a partner who allows four calls at once: the reason for the limit of `parse-block`. Pretended:
 * nothing leaves the machine. Rejects when the signal is aborted.
 */
export async function askPartner(signal: AbortSignal): Promise<void> {
  await sleep(partnerMs, undefined, { signal });
  signal.throwIfAborted();
}
