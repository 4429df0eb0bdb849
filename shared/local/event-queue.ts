import { QueueServiceClient } from "@azure/storage-queue";
import type { QueueClient } from "@azure/storage-queue";

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
    readonly encoding: "base64" | "none";
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
      const text = JSON.stringify(event);
      const isPlain = options.encoding === "none";
      await queue.sendMessage(isPlain ? text : Buffer.from(text, "utf8").toString("base64"));
    },
    pending: () => count(queue),
    poisoned: () => count(poison),
  };
}

async function count(queue: QueueClient): Promise<number> {
  try {
    return (await queue.getProperties()).approximateMessagesCount ?? 0;
  } catch (error) {
    const isAbsent = error instanceof Error && "code" in error && error.code === "QueueNotFound";
    if (isAbsent) return 0;
    throw error;
  }
}
