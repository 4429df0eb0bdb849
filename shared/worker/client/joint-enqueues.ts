import { AsyncResource } from "node:async_hooks";
import { InvalidArgumentError } from "../../core/errors";
import { piecesOf } from "../../enqueue/enqueue-prepared";
import type { Enqueued, PreparedTask } from "../../enqueue/enqueue-prepared";
import type { Timers } from "../../ports/timers";

/** Longest wait for the call before, ms: behind one that hangs a task waits no longer. */
const waitMsMax = 20;

/** A task on its way into a call, and its caller. */
interface Waiting extends PreparedTask {
  readonly resolve: (enqueued: Enqueued) => void;
  readonly reject: (error: unknown) => void;
}

/** Enqueues of one definition. */
interface Lane {
  readonly definition: string;
  readonly waiting: Waiting[];
  callsUnderWay: number;
  /** Sends what waits, in the context of the first task that waits: the call is part of that one's trace. */
  send: () => void;
  stopTimer: (() => void) | null;
}

/** Adds tasks that fit into one call: all of them or none. */
type Send = (tasks: readonly PreparedTask[]) => Promise<Enqueued[]>;

/**
 * Tasks that are added one by one at the same time share a call: its round trip, its statements, its commit. Tasks of one turn
 * of the event loop go together, and so do those that come while the definition's call before is under way.
 */
export class JointEnqueues {
  readonly #timers: Timers;
  readonly #send: Send;
  readonly #lanes = new Map<string, Lane>();

  constructor(timers: Timers, send: Send) {
    this.#timers = timers;
    this.#send = send;
  }

  /** Adds a task that `isPlain`, also by the rules of its kind. Rejects with what this task is refused for, or with the call's failure. */
  async enqueue(task: PreparedTask): Promise<Enqueued> {
    const lane = this.#lane(task.definition);
    return new Promise((resolve, reject) => {
      const isFirst = lane.waiting.push({ ...task, resolve, reject }) === 1;
      if (!isFirst) return;
      lane.send = AsyncResource.bind(() => {
        this.#sendWaiting(lane);
      });
      if (lane.callsUnderWay === 0) this.#timers.soon(lane.send);
      else lane.stopTimer = this.#timers.after(waitMsMax, lane.send);
    });
  }

  /** Sends at once what waits for company. */
  sendAllWaiting(): void {
    for (const lane of this.#lanes.values()) lane.send();
  }

  #lane(definition: string): Lane {
    const known = this.#lanes.get(definition);
    if (known !== undefined) return known;
    const send = (): void => undefined;
    const lane: Lane = { definition, waiting: [], callsUnderWay: 0, send, stopTimer: null };
    this.#lanes.set(definition, lane);
    return lane;
  }

  #sendWaiting(lane: Lane): void {
    lane.stopTimer?.();
    lane.stopTimer = null;
    for (const together of piecesOf(lane.waiting.splice(0))) void this.#sendCall(lane, together);
  }

  async #sendCall(lane: Lane, together: readonly Waiting[]): Promise<void> {
    lane.callsUnderWay += 1;
    await this.#sendTogether(together);
    lane.callsUnderWay -= 1;
    lane.send();
    if (lane.callsUnderWay === 0) this.#lanes.delete(lane.definition);
  }

  /** Never rejects. */
  async #sendTogether(together: readonly Waiting[]): Promise<void> {
    try {
      const enqueued = await this.#send(together);
      for (const [index, { resolve }] of together.entries()) resolve(enqueued[index] as Enqueued);
    } catch (error) {
      // Nothing was added. Alone each task hears what is wrong with it, and the others are added.
      if (together.length > 1 && error instanceof InvalidArgumentError)
        await Promise.all(together.map((one) => this.#sendTogether([one])));
      else for (const { reject } of together) reject(error);
    }
  }
}

/**
 * A task of a group, of a wave or with a key may wait for another one's lock, and no other is to wait for its sake. A delayed one
 * has a hint for its own time.
 */
export function isPlain({ waveId, task }: PreparedTask): boolean {
  const { group, dedupeKey, runInMs, runAt } = task;
  const isFree = group == null && dedupeKey === undefined && waveId === undefined;
  return isFree && runInMs === undefined && runAt === undefined;
}
