import { QueueServiceClient } from "@azure/storage-queue";
import type { QueueClient } from "@azure/storage-queue";
import { isQueueMissing } from "../platform/storage-hint-queue";
import type { MessageEncoding } from "../platform/storage-hint-queue";
import { encodeMessage } from "./functions-host/queue-message";

/** The queues as a local run needs them: it sends events and asks whether all of them were taken. */
export interface EventQueue {
  send(event: object): Promise<void>;
  /** Messages that wait or are being worked on. */
  pending(): Promise<number>;
  /** Messages that no reader could read or wanted. */
  poisoned(): Promise<number>;
}

/** Opens the queue, and makes it and those of `others` where they don't exist. */
export async function openEventQueue(
  connectionString: string,
  options: {
    readonly name: string;
    readonly others: readonly string[];
    readonly encoding: MessageEncoding;
  },
): Promise<EventQueue> {
  const service = QueueServiceClient.fromConnectionString(connectionString);
  const queue = service.getQueueClient(options.name);
  const poison = service.getQueueClient(`${options.name}-poison`);
  for (const name of [options.name, ...options.others]) {
    await service.getQueueClient(name).createIfNotExists();
  }
  return {
    send: async (event) => {
      await queue.sendMessage(encodeMessage(JSON.stringify(event), options.encoding));
    },
    pending: () => count(queue),
    poisoned: () => count(poison),
  };
}

async function count(queue: QueueClient): Promise<number> {
  try {
    return (await queue.getProperties()).approximateMessagesCount ?? 0;
  } catch (error) {
    if (isQueueMissing(error)) return 0;
    throw error;
  }
}
