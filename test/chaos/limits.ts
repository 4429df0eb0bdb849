import { asOperationId } from "../../shared/core/ids";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import type { TaskStore } from "../../shared/ports/task-store";
import type { LimitChange, LimitChanges } from "./judge-overlaps";
import { machineMs } from "./machine-clock";
import { sharedName } from "./plan";

/** Sets limits as an operator does, and notes when each may have been in force. */
export class Limits {
  readonly #store: TaskStore;
  readonly #changes = new Map<string, LimitChange[]>();
  readonly #busy = new Set<string>();
  #isOver = false;

  constructor(store: TaskStore) {
    this.#store = store;
  }

  get changes(): LimitChanges {
    return this.#changes;
  }

  /** One change of a limit at a time: sent until it is answered, by the same operation id. False: another one is under way. */
  async set(name: string, limit: number): Promise<boolean> {
    if (this.#busy.has(name)) return false;
    this.#busy.add(name);
    const change: LimitChange = {
      limit,
      beforeMs: machineMs(),
      afterMs: Number.POSITIVE_INFINITY,
    };
    this.#changes.set(name, [...(this.#changes.get(name) ?? []), change]);
    const operationId = asOperationId(realRandom.uuid());
    try {
      while (!(await this.#send(name, { limit, operationId }))) {
        if (this.#isOver) return false;
        await sleep(200);
      }
      change.afterMs = machineMs();
      return true;
    } finally {
      this.#busy.delete(name);
    }
  }

  /** What isn't answered is given up. */
  end(): void {
    this.#isOver = true;
  }

  async #send(
    name: string,
    change: { limit: number; operationId: ReturnType<typeof asOperationId> },
  ): Promise<boolean> {
    const input = { name, ...change, changedBy: "chaos" };
    try {
      if (name === sharedName) await this.#store.setSharedLimit(input);
      else await this.#store.setLimit(input);
      return true;
    } catch {
      return false;
    }
  }
}
