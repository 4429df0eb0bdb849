/**
 * Turns messages of an Azure Storage queue into invocations, with the semantics of the queue
 * extension on Azure: fetched messages are invisible for 10 min and renewed at half of it, failed
 * ones come back after `visibilityTimeout`, used-up ones move to `<queue>-poison`.
 */
import { messageOf } from "../../core/foreign-value";
import {
  QueueServiceClient,
  type DequeuedMessageItem,
  type QueueClient,
} from "@azure/storage-queue";
import { sleep } from "../../platform/real-clock";
import { isQueueMissing } from "../../platform/storage-hint-queue";
import type { CoreRegistry, LogLevel, RegisteredFunction } from "./core-api";
import type { QueueSettings } from "./host-json";
import { type Invoker } from "./invoke";
import type { Listener } from "./listener";
import { decodeMessage, queueTriggerMetadata } from "./queue-message";

/** What a queue trigger needs. */
export interface QueueListenerOptions {
  readonly target: RegisteredFunction;
  readonly queueName: string;
  readonly connection: string;
  readonly settings: QueueSettings;
  readonly invoker: Invoker;
  readonly registry: CoreRegistry;
  /** How long a message is out of others' sight while it is worked on, ms. Azure: 600,000. */
  readonly leaseMs: number;
}

const POLLING_INTERVAL_MIN_MS = 100;

/** Opens queues with short, bounded repeats: the emulator is next door or gone. */
export function openQueueService(connection: string): QueueServiceClient {
  return QueueServiceClient.fromConnectionString(connection, {
    retryOptions: {
      maxTries: 3,
      tryTimeoutInMs: 10_000,
      retryDelayInMs: 100,
      maxRetryDelayInMs: 500,
    },
  });
}

/** A queue trigger; nothing is fetched before `start()`. An absent queue is waited for. */
export class QueueListener implements Listener {
  readonly queueName: string;
  readonly #options: QueueListenerOptions;
  readonly #queue: QueueClient;
  readonly #poison: QueueClient | undefined;
  readonly #working = new Set<Promise<void>>();
  #loop: Promise<void> = Promise.resolve();
  #isStopped = false;
  #isTroubled = false;
  #pause = new AbortController();
  #emptyLooks = 0;

  constructor(options: QueueListenerOptions) {
    this.#options = options;
    this.queueName = options.queueName;
    const service = openQueueService(options.connection);
    this.#queue = service.getQueueClient(options.queueName);
    // A poison queue has no poison queue of its own.
    this.#poison = options.queueName.endsWith("-poison")
      ? undefined
      : service.getQueueClient(`${options.queueName}-poison`);
  }

  start(): void {
    this.#loop = this.#run();
  }

  stop(): void {
    this.#isStopped = true;
    this.#pause.abort();
  }

  /** Looks at the queue now instead of after the pause: this process wrote to it. */
  notify(): void {
    this.#emptyLooks = 0;
    this.#pause.abort();
  }

  async idle(): Promise<void> {
    await this.#loop;
    await Promise.all(this.#working);
  }

  /** Ends with `stop()`; each turn either works or pauses. */
  async #run(): Promise<void> {
    const { batchSize, newBatchThreshold } = this.#options.settings;
    while (!this.#isStopped) {
      const messages = await this.#fetch(batchSize);
      for (const message of messages) this.#track(this.#process(message));
      if (messages.length === 0) {
        await this.#rest();
        continue;
      }
      this.#emptyLooks = 0;
      while (this.#working.size > newBatchThreshold) await Promise.race(this.#working);
    }
  }

  #track(work: Promise<void>): void {
    const guarded = work
      .catch((error: unknown) => {
        this.#write("error", `Queue ${this.queueName}: ${messageOf(error)}`);
      })
      .finally(() => {
        this.#working.delete(guarded);
      });
    this.#working.add(guarded);
  }

  async #fetch(count: number): Promise<DequeuedMessageItem[]> {
    const visibilityTimeout = seconds(this.#options.leaseMs);
    try {
      const answer = await this.#queue.receiveMessages({
        numberOfMessages: count,
        visibilityTimeout,
      });
      this.#isTroubled = false;
      return answer.receivedMessageItems;
    } catch (error) {
      // The first writer of an absent queue creates it.
      if (!isQueueMissing(error) && !this.#isTroubled) {
        this.#isTroubled = true;
        this.#write("warning", `Queue ${this.queueName} cannot be read: ${messageOf(error)}`);
      }
      return [];
    }
  }

  async #rest(): Promise<void> {
    const pauseMs = pollingPause(this.#emptyLooks, this.#options.settings.maxPollingIntervalMs);
    this.#emptyLooks += 1;
    this.#pause = new AbortController();
    if (!this.#isStopped) await sleep(pauseMs, this.#pause.signal);
  }

  async #process(message: DequeuedMessageItem): Promise<void> {
    // Fetched while the host was told to stop: given back, or it would hide for 10 min.
    if (this.#isStopped) {
      await this.#release(message, 0);
      return;
    }
    const { maxDequeueCount, messageEncoding } = this.#options.settings;
    const content = decodeMessage(message.messageText, messageEncoding);
    if (content === null && this.#poison !== undefined) {
      this.#write("error", `Message ${message.messageId} is not base64, as host.json says it is.`);
      await this.#moveToPoison(message);
      return;
    }
    // The process died during each try, or another reader fetched it.
    if (message.dequeueCount > maxDequeueCount && this.#poison !== undefined) {
      await this.#moveToPoison(message);
      return;
    }
    const held = this.#hold(message);
    const isDone = await this.#invoke(message, content ?? message.messageText);
    await this.#complete(await held.end(), isDone);
  }

  async #invoke(message: DequeuedMessageItem, content: string): Promise<boolean> {
    try {
      await this.#options.invoker.invoke(this.#options.target, {
        data: { string: content },
        triggerMetadata: queueTriggerMetadata(message, content),
      });
      return true;
    } catch {
      // Logged by the invoker; what follows from it is decided by the message's dequeue count.
      return false;
    }
  }

  async #complete(message: DequeuedMessageItem, isDone: boolean): Promise<void> {
    const { maxDequeueCount, visibilityTimeoutMs } = this.#options.settings;
    if (isDone) {
      await this.#queue.deleteMessage(message.messageId, message.popReceipt);
    } else if (this.#poison === undefined) {
      // Without a poison queue a failed message stays invisible for the rest of its lease: no
      // endless fast loop. As on Azure.
    } else if (message.dequeueCount >= maxDequeueCount) {
      await this.#moveToPoison(message);
    } else {
      await this.#release(message, visibilityTimeoutMs);
    }
  }

  /** Keeps a message invisible until `end()`, which answers it with its newest receipt. */
  #hold(message: DequeuedMessageItem): { end(): Promise<DequeuedMessageItem> } {
    const { leaseMs } = this.#options;
    let current = message;
    let renewal: Promise<void> = Promise.resolve();
    const renew = async (): Promise<void> => {
      try {
        const { messageId, popReceipt } = current;
        const lease = seconds(leaseMs);
        const answer = await this.#queue.updateMessage(messageId, popReceipt, undefined, lease);
        current = { ...current, popReceipt: answer.popReceipt ?? popReceipt };
      } catch (error) {
        this.#write("warning", `Message ${message.messageId} is not renewed: ${messageOf(error)}`);
      }
    };
    const timer = setInterval(() => {
      renewal = renewal.then(renew);
    }, leaseMs / 2);
    return {
      async end() {
        clearInterval(timer);
        await renewal;
        return current;
      },
    };
  }

  async #release(message: DequeuedMessageItem, afterMs: number): Promise<void> {
    const { messageId, popReceipt } = message;
    await this.#queue.updateMessage(messageId, popReceipt, undefined, seconds(afterMs));
  }

  async #moveToPoison(message: DequeuedMessageItem): Promise<void> {
    if (this.#poison === undefined) return;
    const { maxDequeueCount } = this.#options.settings;
    const tries = `MaxDequeueCount of ${String(maxDequeueCount)}`;
    this.#write("warning", `Message ${message.messageId} goes to ${this.#poison.name} (${tries}).`);
    await this.#poison.createIfNotExists();
    await this.#poison.sendMessage(message.messageText);
    await this.#queue.deleteMessage(message.messageId, message.popReceipt);
  }

  #write(level: LogLevel, message: string): void {
    this.#options.registry.write({ level, category: "system", message });
  }
}

/** The pause after a number of empty looks: 100 ms, then growing at random up to the maximum. */
export function pollingPause(emptyLooks: number, maxMs: number): number {
  const growth = 2 ** Math.min(emptyLooks, 16) - 1;
  const random = 0.8 + Math.random() * 0.4;
  return Math.min(maxMs, POLLING_INTERVAL_MIN_MS * (1 + growth * random));
}

/** Storage counts in whole seconds; rounded up, so that a short lease is never none. */
function seconds(durationMs: number): number {
  return Math.ceil(durationMs / 1_000);
}
