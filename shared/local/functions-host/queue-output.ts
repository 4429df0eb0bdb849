/** Writes the values of queue output bindings. */
import type { QueueClient } from "@azure/storage-queue";
import { resolveSettings, storageConnection, type AppSettings } from "./app-settings";
import type { BindingInfo } from "./core-api";
import type { OutputWriter } from "./invoke";
import { openQueueService } from "./queue-listener";
import type { MessageEncoding } from "../../platform/storage-hint-queue";
import { encodeMessage, messagesOf } from "./queue-message";

/** What the writer needs. */
export interface QueueOutputOptions {
  readonly settings: AppSettings;
  readonly encoding: MessageEncoding;
  /** Told the queue's name after each write. */
  readonly onWritten: (queueName: string) => void;
}

/** The queue that a binding (trigger or output) names, and how to reach it. Throws if incomplete. */
export function queueOf(
  binding: BindingInfo,
  settings: AppSettings,
): { readonly queueName: string; readonly connection: string } {
  const { queueName, connection } = binding;
  if (typeof queueName !== "string") throw new Error("The queue binding has no queueName.");
  return {
    queueName: resolveSettings(queueName, settings).toLowerCase(),
    connection: storageConnection(
      typeof connection === "string" ? connection : undefined,
      settings,
    ),
  };
}

/**
 * Creates a writer: one message per value, one per member of a list. A queue that does not exist is
 * created. A failed write fails the invocation, as on Azure.
 */
export function createQueueOutput(options: QueueOutputOptions): OutputWriter {
  const open = new Map<string, Promise<QueueClient>>();
  const openQueue = async (connection: string, queueName: string): Promise<QueueClient> => {
    const client = openQueueService(connection).getQueueClient(queueName);
    await client.createIfNotExists();
    return client;
  };
  return async (binding, data) => {
    const { queueName, connection } = queueOf(binding, options.settings);
    const key = `${connection}\n${queueName}`;
    const queue = open.get(key) ?? openQueue(connection, queueName);
    open.set(key, queue);
    try {
      const client = await queue;
      for (const message of messagesOf(data)) {
        await client.sendMessage(encodeMessage(message, options.encoding));
      }
    } catch (error) {
      // The queue may be gone; the next write opens it again.
      open.delete(key);
      throw error;
    }
    options.onWritten(queueName);
  };
}
