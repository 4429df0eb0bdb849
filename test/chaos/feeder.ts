import { asOperationId } from "../../shared/core/ids";
import type { OperationId } from "../../shared/core/ids";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import type { NewTask, TaskStore } from "../../shared/ports/task-store";
import type { Dice } from "../support/dice";
import { machineMs } from "./machine-clock";
import { firstPriority, mainName, newKind, sideName } from "./plan";
import type { ChaosPayload, Way } from "./plan";

/** A call that adds tasks. It is sent until it is answered, by the same operation id each time. */
export interface FedOperation {
  readonly id: OperationId;
  readonly definition: string;
  readonly tasks: readonly NewTask[];
  readonly payloads: readonly ChaosPayload[];
  readonly build: number;
  readonly firstSentMs: number;
  /** When the first answer came, and what it said. */
  answeredMs: number | null;
  taskIds: readonly string[];
}

/** Something that must not be, as of the feeder. */
export type OnBroken = (rule: "once", detail: string) => void;

export interface FeederOptions {
  readonly store: TaskStore;
  readonly dice: Dice;
  readonly onBroken: OnBroken;
  readonly onAdded: (definition: string) => void;
  /** Whether a build that knows the new kind is about. */
  readonly isNewKnown: () => boolean;
}

const ways: Readonly<Record<Way, number>> = {
  return: 38,
  commit: 40,
  throw: 6,
  continue: 6,
  block: 1,
  child: 9,
};
/** Answers that are asked for again are at most so old. */
const rememberedMax = 40;

/** Adds tasks; sends some operations and some dedupe keys again, later and in another order. */
export class Feeder {
  readonly operations: FedOperation[] = [];
  readonly counts = { calls: 0, failed: 0, repeated: 0, sameKey: 0 };
  readonly #options: FeederOptions;
  readonly #keys = new Map<string, string>();
  #pending: FedOperation[] = [];

  constructor(options: FeederOptions) {
    this.#options = options;
  }

  /** Operations without an answer so far. */
  get pending(): number {
    return this.#pending.length;
  }

  /** Adds some tasks, or repeats calls with or without an answer. Never throws. */
  async turn(): Promise<void> {
    const { dice } = this.#options;
    const unanswered = this.#pending[0];
    if (unanswered !== undefined) {
      await this.#send(unanswered);
      return;
    }
    if (dice.percent(20)) {
      const again = dice.pickAny(this.operations.slice(-rememberedMax));
      if (again !== undefined) {
        this.counts.repeated += 1;
        // Two at once: the same message, delivered to two hosts.
        await Promise.all([this.#send(again), this.#send(again)]);
        return;
      }
    }
    await this.#send(this.#make());
  }

  /** Repeats calls without an answer until there is none left, or the time is up. */
  async settle(forMs: number): Promise<void> {
    const endMs = machineMs() + forMs;
    while (this.#pending.length > 0 && machineMs() < endMs) {
      await this.turn();
      await sleep(100);
    }
  }

  #make(): FedOperation {
    const { dice, isNewKnown } = this.#options;
    const definition = dice.percent(65) ? mainName : sideName;
    const isNew = definition === mainName && isNewKnown() && dice.percent(25);
    const payloads = Array.from({ length: dice.int(1, 12) }, () => payloadOf(dice, definition));
    const tasks = payloads.map((payload): NewTask => {
      const dedupeKey = dice.percent(15) ? this.#key(dice, definition) : undefined;
      return {
        payload: JSON.stringify(payload),
        kind: isNew ? newKind : definition,
        priority: payload.priority,
        ...(dedupeKey === undefined ? {} : { dedupeKey, dedupeMs: 3_600_000 }),
      };
    });
    const operation: FedOperation = {
      id: asOperationId(realRandom.uuid()),
      definition,
      tasks,
      payloads,
      build: isNew ? 2 : 1,
      firstSentMs: machineMs(),
      answeredMs: null,
      taskIds: [],
    };
    this.#pending.push(operation);
    this.operations.push(operation);
    return operation;
  }

  /** A new one, or one that a task has had. */
  #key(dice: Dice, definition: string): string {
    const known = dice.pickAny(
      [...this.#keys.keys()].filter((key) => key.startsWith(definition)).slice(-20),
    );
    if (known !== undefined && dice.percent(50)) return known;
    return `${definition}/${realRandom.uuid()}`;
  }

  async #send(operation: FedOperation): Promise<void> {
    const { store, onAdded } = this.#options;
    const { id: operationId, definition: name, build, tasks } = operation;
    this.counts.calls += 1;
    try {
      const answer = await store.enqueueTasks({ name, build, operationId, tasks });
      this.#onAnswer(operation, answer.taskIds);
      onAdded(name);
    } catch {
      this.counts.failed += 1;
    }
  }

  #onAnswer(operation: FedOperation, taskIds: readonly string[]): void {
    const { onBroken } = this.#options;
    if (operation.answeredMs === null) {
      operation.answeredMs = machineMs();
      operation.taskIds = taskIds;
      this.#pending = this.#pending.filter((other) => other !== operation);
    } else if (taskIds.join() !== operation.taskIds.join()) {
      onBroken(
        "once",
        `operation ${operation.id} was answered ${operation.taskIds.join()}, then ${taskIds.join()}`,
      );
    }
    for (const [index, { dedupeKey }] of operation.tasks.entries()) {
      const taskId = taskIds[index];
      if (dedupeKey === undefined || taskId === undefined) continue;
      const known = this.#keys.get(dedupeKey);
      if (known === undefined) this.#keys.set(dedupeKey, taskId);
      else this.counts.sameKey += 1;
      if (known !== undefined && known !== taskId)
        onBroken("once", `key ${dedupeKey} belongs to tasks ${known} and ${taskId}`);
    }
  }
}

function payloadOf(dice: Dice, definition: string): ChaosPayload {
  const isGrouped = dice.percent(definition === sideName ? 60 : 30);
  // A few last longer than a lease, ignore their signal and then complete: they show the acts of a stale holder.
  const isLong = dice.percent(5);
  return {
    way: isLong ? "commit" : dice.weighted(ways),
    ms: isLong ? dice.int(2_000, 4_500) : dice.percent(10) ? dice.int(200, 1_200) : dice.int(5, 80),
    isStubborn: isLong || dice.percent(30),
    group: isGrouped ? `g${String(dice.int(1, 5))}` : null,
    // A strict group's order is that of its priorities first.
    priority: isGrouped ? 100 : dice.pick([firstPriority, 100, 150]),
  };
}
