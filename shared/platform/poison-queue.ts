import type { DequeuedMessageItem, QueueClient } from "@azure/storage-queue";
import type { StorageSettings } from "../settings/settings";
import { readBase64Text } from "./base64-text";
import { isQueueMissing, noExpiry, openQueue } from "./storage-hint-queue";

/** What a replay did. */
export interface Replayed {
  /** Messages that are in the queue again. */
  readonly moved: number;
  /** Messages that are in the poison queue still, about. */
  readonly left: number;
}

/** How to replay. */
export interface ReplayOptions {
  /** Most messages to move. */
  readonly max: number;
  /** Told after each step with the number moved so far, and the number at the start. */
  readonly onProgress: (moved: number, found: number) => void;
}

/** What a look at a poison queue shows. */
export interface Peeked {
  /** Messages in it, about. */
  readonly count: number;
  /** The first of those that can be seen now, at most 32. */
  readonly messages: readonly PeekedMessage[];
}

/** A message as it was sent. */
export interface PeekedMessage {
  /** Its base64 is decoded. */
  readonly text: string;
  /** It was no base64: a host that expects it couldn't read the message. */
  readonly isPlain: boolean;
}

/** Looks at the messages of the poison queue of `name`, and moves none. */
export async function peekPoison(storage: StorageSettings, name: string): Promise<Peeked> {
  const poison = openQueue(storage, `${name}-poison`);
  const state = await stateOf(poison);
  if (state === null) return { count: 0, messages: [] };
  const { peekedMessageItems } = await poison.peekMessages({ numberOfMessages: batchMax });
  const messages = peekedMessageItems.map(({ messageText }) => decode(messageText));
  return { count: state.count, messages };
}

/** How many messages the poison queue of `name` holds, about. */
export async function countPoison(storage: StorageSettings, name: string): Promise<number> {
  return (await stateOf(openQueue(storage, `${name}-poison`)))?.count ?? 0;
}

/** Senders write base64 or not, as host.json says. No JSON of an object or a list is base64. */
function decode(text: string): PeekedMessage {
  const decoded = readBase64Text(text);
  return { text: decoded ?? text, isPlain: decoded === null };
}

/** Most that the storage hands out at once. */
const batchMax = 32;
/** The time after which a message is visible again that was received and not moved, because this process ended. */
const holdSeconds = 60;

/**
 * Moves the messages of the poison queue of `name` back into it, as they are: its reader takes it out of its
 * envelope. Each is sent before it is deleted, so a crash in between leaves both. A message that is refused again meanwhile stays.
 */
export async function replayPoison(
  storage: StorageSettings,
  name: string,
  { max, onProgress }: ReplayOptions,
): Promise<Replayed> {
  const poison = openQueue(storage, `${name}-poison`);
  const start = await stateOf(poison);
  if (start === null) return { moved: 0, left: 0 };
  const queue = openQueue(storage, name);
  await queue.createIfNotExists();
  let moved = 0;
  // The storage counts at least as many as there are, so those that were there at the start are within the count.
  const count = Math.min(max, start.count);
  while (moved < count) {
    const numberOfMessages = Math.min(batchMax, count - moved);
    const { receivedMessageItems } = await poison.receiveMessages({
      numberOfMessages,
      visibilityTimeout: holdSeconds,
    });
    const old = receivedMessageItems.filter(({ insertedOn }) => insertedOn <= start.at);
    const newer = receivedMessageItems.filter(({ insertedOn }) => insertedOn > start.at);
    await Promise.all([
      ...old.map((message) => move(message, poison, queue)),
      ...newer.map((message) => release(message, poison)),
    ]);
    if (old.length === 0) break;
    moved += old.length;
    onProgress(moved, Math.max(moved, start.count));
  }
  return { moved, left: (await stateOf(poison))?.count ?? 0 };
}

async function move(
  message: DequeuedMessageItem,
  from: QueueClient,
  to: QueueClient,
): Promise<void> {
  await to.sendMessage(message.messageText, { messageTimeToLive: noExpiry });
  await from.deleteMessage(message.messageId, message.popReceipt);
}

/** Shows a message again at once: another command and a reader of the poison queue see it. */
async function release(message: DequeuedMessageItem, queue: QueueClient): Promise<void> {
  await queue.updateMessage(message.messageId, message.popReceipt, undefined, 0);
}

/** How many messages there are, about, by the storage's clock; null: there is no such queue. */
async function stateOf(queue: QueueClient): Promise<{ count: number; at: Date } | null> {
  try {
    const { approximateMessagesCount, date } = await queue.getProperties();
    return { count: approximateMessagesCount ?? 0, at: date ?? new Date() };
  } catch (error) {
    if (isQueueMissing(error)) return null;
    throw error;
  }
}
