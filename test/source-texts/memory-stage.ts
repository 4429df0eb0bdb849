import { realClock, realRandom } from "../../shared/platform/real-clock";
import type { TaskStore } from "../../shared/ports/task-store";
import { MemoryTaskStore } from "../../shared/testing/memory-store/memory-task-store";
import type { Worker } from "../support/builders";
import { idsOf } from "../support/builders";
import { overriding } from "../unit/worker/worker-bench";
import type { Held, OpenClaim, Stage, StageOptions, StageSetup } from "./stage";

/** The store in memory; every store that a scene opens is the same one. */
export function memoryStages(): StageSetup {
  return {
    dialect: "memory",
    open: (options = {}) => Promise.resolve(new ModelStage(options)),
    close: () => Promise.resolve(),
  };
}

class ModelStage implements Stage {
  readonly dialect = "memory";
  readonly plain: MemoryTaskStore;
  readonly #options: StageOptions;
  #offsetMs = 0;
  #transactions = 0;

  constructor(options: StageOptions) {
    this.#options = options;
    this.plain = new MemoryTaskStore({
      clock: { now: () => realClock.nowMs() + this.#offsetMs },
      random: realRandom,
    });
  }

  openStore(): TaskStore {
    const counted = overriding(this.plain, {
      transaction: async (body) => {
        this.#transactions += 1;
        try {
          return await this.plain.transaction(body);
        } finally {
          this.#transactions -= 1;
        }
      },
    });
    return this.#options.change?.(counted) ?? counted;
  }

  advance(ms: number): Promise<void> {
    this.#offsetMs += ms;
    return Promise.resolve();
  }

  async openClaim(worker: Worker, want: number): Promise<OpenClaim> {
    const claimed = await worker.claim(want);
    return {
      taskIds: Promise.resolve(idsOf(claimed)),
      commit: () => Promise.resolve(),
      rollBack: async () => {
        await worker.finish();
      },
    };
  }

  holdDefinition(): Promise<Held> {
    return Promise.resolve({
      commit: () => Promise.resolve(),
      rollBack: () => Promise.resolve(),
    });
  }

  /** Nothing ever waits. */
  countWaiting(): Promise<number> {
    return Promise.resolve(0);
  }

  countTransactions(): Promise<number> {
    return Promise.resolve(this.#transactions);
  }

  countDeadlocks(): Promise<number> {
    return Promise.resolve(0);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
