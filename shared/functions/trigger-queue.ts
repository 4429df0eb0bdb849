import { createHintQueue } from "../platform/storage-hint-queue";
import type { HintQueue } from "../platform/storage-hint-queue";
import { addressOfTrigger, readMessageEncoding } from "../settings/queue-address";
import type { QueueTrigger } from "../settings/queue-address";

const open = new Map<string, HintQueue>();

/** The queue that a trigger reads from, opened once per process. Throws InvalidArgumentError naming the setting that is missing. */
export function queueOfTrigger(trigger: QueueTrigger): HintQueue {
  const address = addressOfTrigger(trigger);
  const key = JSON.stringify(address);
  const queue =
    open.get(key) ?? createHintQueue(address.storage, address.name, readMessageEncoding());
  open.set(key, queue);
  return queue;
}
