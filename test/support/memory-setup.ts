import { serialize } from "node:v8";
import type { TaskId } from "../../shared/core/ids";
import { realRandom } from "../../shared/platform/real-clock";
import type { TaskStore } from "../../shared/ports/task-store";
import { MemoryTaskStore } from "../../shared/testing/memory-store/memory-task-store";
import type { RoleStores } from "./roles";
import type { AuditEntry, LogEntry, StoreSetup, TestStore } from "./store-setup";

/** The store in memory: a new one for each test. */
export function memorySetup(): StoreSetup {
  const noSql = "the memory store has no SQL";
  return {
    dialect: "memory",
    missing: {
      "execution log": "the memory store has no views",
      "row removal": "the memory store's rows can't be removed",
      "raw sql": noSql,
      "row locks": "nothing waits in the memory store",
      rights: "the memory store has no logins",
    },
    open: () => Promise.resolve(new ModelTestStore()),
    close: () => Promise.resolve(),
  };
}

class ModelTestStore implements TestStore {
  readonly store: TaskStore;
  readonly #memory: MemoryTaskStore;
  #nowMs = Date.UTC(2026, 10, 21, 10, 20, 30, 123);
  #isDamaged = false;

  constructor() {
    const clock = { now: () => this.#nowMs };
    this.#memory = new MemoryTaskStore({ clock, random: realRandom });
    this.store = this.#memory;
  }

  /** Nothing is ever repeated in the memory store. */
  get plain(): TaskStore {
    return this.store;
  }

  get roles(): RoleStores {
    return { worker: this.store, operator: this.store };
  }

  get isDamaged(): boolean {
    return this.#isDamaged;
  }

  expectDamage(): void {
    this.#isDamaged = true;
  }

  now(): Promise<Date> {
    return Promise.resolve(new Date(this.#nowMs));
  }

  advance(ms: number): Promise<void> {
    this.#nowMs += ms;
    return Promise.resolve();
  }

  requestCancel(taskId: TaskId): Promise<void> {
    this.#memory.requestCancel(taskId);
    return Promise.resolve();
  }

  readTokens(name: string): Promise<string> {
    return Promise.resolve(this.#memory.inspect().tokens[name] ?? "");
  }

  writeTokens(name: string, text: string): Promise<void> {
    this.#memory.damageTokens(name, text);
    return Promise.resolve();
  }

  readAudit(name: string): Promise<AuditEntry[]> {
    const { definitions, settingAudit } = this.#memory.inspect().state;
    const ids = [...definitions.values()]
      .filter((row) => row.name === name)
      .map((row) => row.definitionId);
    return Promise.resolve(
      settingAudit
        .filter((row) => ids.includes(row.definitionId))
        .map(({ setting, oldValue, newValue, source, changedBy, reason }) => ({
          setting,
          oldValue,
          newValue,
          source,
          changedBy,
          reason,
        })),
    );
  }

  readLog(): Promise<LogEntry[]> {
    return Promise.reject(new Error("The memory store has no views"));
  }

  removeExecution(): Promise<void> {
    return Promise.reject(new Error("The memory store's rows can't be removed"));
  }

  readVersions(): Promise<string> {
    return Promise.resolve(serialize(this.#memory.inspect().state).toString("base64"));
  }

  raw(): Promise<Record<string, unknown>[]> {
    return Promise.reject(new Error("The memory store has no SQL"));
  }

  asOwner(): Promise<never> {
    return Promise.reject(new Error("The memory store has no SQL"));
  }

  call(): Promise<Record<string, unknown>[]> {
    return Promise.reject(new Error("The memory store has no SQL"));
  }
}
