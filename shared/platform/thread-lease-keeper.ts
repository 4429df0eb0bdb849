import { messageOf } from "../core/foreign-value";
import { MessageChannel, receiveMessageOnPort, Worker } from "node:worker_threads";
import type { ExecutionId } from "../core/ids";
import type { Clock } from "../ports/clock";
import type { KeptExecution, LeaseKeeper } from "../ports/lease-keeper";
import type { Logger } from "../ports/logger";
import { hrMs } from "./lease-thread";
import type { LeaseOrder, ThreadRenewal } from "./lease-thread";

/** What the program of the thread is given. */
export interface LeaseThreadData<Program> {
  readonly turns: Int32Array;
  readonly program: Program;
}

/** What the keeper is made of. */
export interface ThreadLeaseKeeperOptions {
  /** The compiled file that the thread runs. */
  readonly file: string;
  /** Its own settings, copied to it. */
  readonly program: unknown;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How often the event loop shows that it turns. */
const turnMs = 100;

/**
 * Renews leases in a thread of its own. The thread is made with the first execution and ends with the process, which it
 * doesn't keep alive. Without it, when it can't be made or fails, leases are renewed by the event loop alone.
 */
export class ThreadLeaseKeeper implements LeaseKeeper {
  readonly #options: ThreadLeaseKeeperOptions;
  readonly #turns = new Int32Array(new SharedArrayBuffer(4));
  readonly #renewals = new Map<ExecutionId, ThreadRenewal>();
  readonly #kept = new Set<ExecutionId>();
  readonly #channel = new MessageChannel();
  #worker: Worker | null = null;
  #hasFailed = false;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: ThreadLeaseKeeperOptions) {
    this.#options = options;
  }

  keep(execution: KeptExecution): () => void {
    const { executionId } = execution;
    this.#kept.add(executionId);
    this.#show();
    this.#send({ kind: "keep", execution });
    return () => {
      this.#kept.delete(executionId);
      this.#renewals.delete(executionId);
      this.#send({ kind: "release", executionId });
      if (this.#kept.size > 0 || this.#timer === null) return;
      clearInterval(this.#timer);
      this.#timer = null;
    };
  }

  renew(executionIds: readonly ExecutionId[]): void {
    this.#send({ kind: "renew", executionIds });
  }

  renewalOf(executionId: ExecutionId): ReturnType<LeaseKeeper["renewalOf"]> {
    for (;;) {
      const received: { message: ThreadRenewal } | undefined = receiveMessageOnPort(
        this.#channel.port1,
      );
      if (received === undefined) break;
      const { message } = received;
      if (this.#kept.has(message.executionId)) this.#renewals.set(message.executionId, message);
    }
    const renewal = this.#renewals.get(executionId);
    if (renewal === undefined) return null;
    const agoMs = hrMs() - renewal.sentHrMs;
    const monotonicMs = this.#options.clock.monotonicMs() - agoMs;
    return { sentAt: { monotonicMs, wallMs: renewal.sentWallMs }, leaseMs: renewal.leaseMs };
  }

  /** As long as something is kept, and as the event loop turns. */
  #show(): void {
    this.#timer ??= setInterval(() => {
      Atomics.add(this.#turns, 0, 1);
    }, turnMs).unref();
    Atomics.add(this.#turns, 0, 1);
  }

  #send(order: LeaseOrder): void {
    this.#worker ??= this.#hasFailed ? null : this.#open();
    this.#worker?.postMessage(order);
  }

  #open(): Worker | null {
    const { file, program } = this.#options;
    const data: LeaseThreadData<unknown> = { turns: this.#turns, program };
    try {
      const { port2 } = this.#channel;
      const worker = new Worker(file, {
        workerData: { ...data, renewals: port2 },
        transferList: [port2],
        // What the process preloads, such as instrumentation, isn't needed there. Sources need what compiles them.
        ...(file.endsWith(".js") ? { execArgv: [] } : {}),
      });
      worker.on("error", (error) => {
        this.#fail(error);
      });
      // What it is told as a message keeps a process alive that has nothing else to do.
      worker.unref();
      return worker;
    } catch (error) {
      this.#fail(error);
      return null;
    }
  }

  #fail(error: unknown): void {
    this.#hasFailed = true;
    this.#worker = null;
    this.#options.logger.warn(
      "the thread that renews leases failed: a task that blocks the event loop may lose its lease",
      { error: messageOf(error) },
    );
  }
}
