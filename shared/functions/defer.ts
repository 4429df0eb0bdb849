import type { InvocationContext } from "@azure/functions";
import { refusedField } from "../core/refused-field";
import { realRandom } from "../platform/real-clock";
import { queueOfTrigger } from "./trigger-queue";

/** Longest delay of a storage queue's message that still lives when it is seen. */
const delaySecondsMax = 6 * 24 * 3_600;

/**
 * Puts the message of a storage queue's trigger back into its queue, to be seen again after `inMs` and up to half of it more;
 * return normally afterwards. It doesn't count as a try. The copy is sent before the host deletes the message, so none is lost;
 * a crash in between delivers both, as storage queues may do anyway. Queue and connection are the invocation's own.
 * Throws InvalidArgumentError for another trigger, and when the storage refuses.
 */
export async function defer(
  message: unknown,
  context: Pick<InvocationContext, "options">,
  inMs: number,
): Promise<void> {
  // Those that were denied together don't come back together.
  await putBack(message, context, inMs * (1 + realRandom.fraction() / 2));
}

/** The same, to be seen again after `inMs`, up to a second more: storage queues count in seconds. */
export async function putBack(
  message: unknown,
  context: Pick<InvocationContext, "options">,
  inMs: number,
): Promise<void> {
  const { trigger } = context.options;
  if (trigger.type !== "queueTrigger")
    throw refusedField(
      "trigger",
      `queueTrigger (${trigger.type}); a message of another trigger can't be put back`,
    );
  const text = typeof message === "string" ? message : JSON.stringify(message);
  if (message instanceof Uint8Array || typeof text !== "string")
    throw refusedField("message", "a text or JSON (bytes can't be put back)");
  const seconds = Math.ceil(inMs / 1_000);
  await queueOfTrigger({ ...trigger }).send(text, Math.min(seconds, delaySecondsMax));
}
