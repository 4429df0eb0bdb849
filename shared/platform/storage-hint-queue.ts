import { createRequire } from "node:module";
import type { TokenCredential } from "@azure/identity";
import type * as identityPackage from "@azure/identity";
import type { QueueClient } from "@azure/storage-queue";
import type * as queuePackage from "./queue-package";
import { textAt } from "../core/foreign-value";
import { loadPackage } from "../core/load-package";
import type { StorageSettings } from "../settings/settings";

/** A queue that takes texts, to be seen after a delay. */
export interface HintQueue {
  /** Sends `text`, visible after `delaySeconds` (whole, 0..518,400). Rejects when the storage refuses or is silent. */
  send(text: string, delaySeconds: number): Promise<void>;
}

/** How a trigger reads the texts of its queue. */
export type MessageEncoding = "base64" | "none";

/** Most time for one message with all its tries. */
const sendTimeoutMs = 10_000;
/** Messages never expire: the storage's own 7 days are shorter than some outages. */
export const noExpiry = -1;

/** Both packages are loaded at the first message (measured: 70 and 90 ms), not with this file. */
const requireLater = createRequire(__filename);

/**
 * The storage queue `name`; nothing is loaded or sent before the first message. Texts travel as base64, or as they are where
 * host.json says `messageEncoding: none`: as the trigger reads them. A queue that doesn't exist is created by the first message.
 */
export function createHintQueue(
  storage: StorageSettings,
  name: string,
  encoding: MessageEncoding = "base64",
): HintQueue {
  let client: QueueClient | undefined;
  return {
    send: async (text, delaySeconds) => {
      client ??= openQueue(storage, name);
      const content = encoding === "none" ? text : Buffer.from(text, "utf8").toString("base64");
      const abortSignal = AbortSignal.timeout(sendTimeoutMs);
      const options = {
        abortSignal,
        visibilityTimeout: delaySeconds,
        messageTimeToLive: noExpiry,
      };
      try {
        await client.sendMessage(content, options);
      } catch (error) {
        if (!isQueueMissing(error)) throw error;
        await client.createIfNotExists({ abortSignal });
        await client.sendMessage(content, options);
      }
    },
  };
}

/** Asks the storage whether the queue `name` is there; answers in a sentence, rejects when the storage can't be reached. */
export async function checkHintQueue(storage: StorageSettings, name: string): Promise<string> {
  const client = openQueue(storage, name);
  try {
    const { approximateMessagesCount } = await client.getProperties({
      abortSignal: AbortSignal.timeout(sendTimeoutMs),
    });
    return `Queue ${name} answers; about ${String(approximateMessagesCount ?? 0)} messages wait.`;
  } catch (error) {
    if (isQueueMissing(error))
      return `The storage answers; queue ${name} is made by the first hint.`;
    throw error;
  }
}

/** The client of the queue `name`; nothing is sent. */
export function openQueue(storage: StorageSettings, name: string): QueueClient {
  const { QueueServiceClient } = requireLater("./queue-package") as typeof queuePackage;
  const pipeline = { retryOptions: { maxTries: 3, retryDelayInMs: 200, tryTimeoutInMs: 5_000 } };
  const service =
    storage.kind === "connection-string"
      ? QueueServiceClient.fromConnectionString(storage.connectionString, pipeline)
      : new QueueServiceClient(storage.queueServiceUri, openCredential(storage), pipeline);
  return service.getQueueClient(name);
}

function openCredential(storage: StorageSettings & { kind: "identity" }): TokenCredential {
  const identity = loadPackage<typeof identityPackage>("@azure/identity");
  if (storage.credential === "default") return new identity.DefaultAzureCredential();
  return storage.clientId === null
    ? new identity.ManagedIdentityCredential()
    : new identity.ManagedIdentityCredential({ clientId: storage.clientId });
}

/** Did the storage say that there is no such queue? */
export function isQueueMissing(error: unknown): boolean {
  return textAt(error, "code") === "QueueNotFound";
}
