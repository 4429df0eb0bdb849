import type { StoreTransaction, TaskStore } from "../../shared/ports/task-store";
import type { Worker } from "../support/builders";
import { openContention } from "../support/contention";
import type { Contention } from "../support/contention";
import { createGate, until } from "../support/gate";
import { openPostgresStoreAs } from "../support/postgres-setup";
import { urlAs } from "../support/roles";
import type { Role } from "../support/roles";
import { plantedText } from "./planted-text";
import type { Held, OpenClaim, Stage, StageOptions, StageSetup } from "./stage";

/** A database of its own for each scene. */
export function postgresStages(): StageSetup<PostgresStage> {
  return {
    dialect: "postgres",
    open: async (options = {}) => {
      const contention = await openContention();
      if (options.planted !== undefined)
        await contention.client.query(plantedText(options.planted));
      return new PostgresStage(contention, options);
    },
    close: () => Promise.resolve(),
  };
}

export class PostgresStage implements Stage {
  readonly dialect = "postgres";
  readonly plain: TaskStore;
  readonly #contention: Contention;
  readonly #options: StageOptions;
  readonly #held: Held[] = [];
  readonly #holders: TaskStore[] = [];

  constructor(contention: Contention, options: StageOptions) {
    this.#contention = contention;
    this.#options = options;
    this.plain = contention.openStore(4);
  }

  openStore(connectionsMax: number): TaskStore {
    const store = this.#contention.openStore(connectionsMax);
    return this.#options.change?.(store) ?? store;
  }

  advance(ms: number): Promise<void> {
    return this.#contention.advance(ms);
  }

  async openClaim(worker: Worker, want: number): Promise<OpenClaim> {
    const call = `select task_ids from taskgate.work($1, $2, p_want => $3)`;
    const values = [worker.number, worker.calls + 1, want];
    const { held, first } = await this.hold(
      (transaction) => transaction.query(call, values),
      "worker",
    );
    const text = first[0]?.["task_ids"];
    return { ...held, taskIds: Promise.resolve(typeof text === "string" ? text.split(",") : []) };
  }

  async holdDefinition(name: string, limit?: number): Promise<Held> {
    const sql = `
      update taskgate.task_definition
         set hold_lock_task_execution_id = 0, concurrency_limit_override = coalesce($2::int, concurrency_limit_override)
       where name = $1`;
    const { held } = await this.hold((transaction) =>
      transaction.query(sql, [name, limit ?? null]),
    );
    return held;
  }

  /** Keeps a transaction open after its first statement: the owner's, or that of a login with a role. */
  async hold<Result>(
    first: (transaction: StoreTransaction) => Promise<Result>,
    as?: Role,
  ): Promise<{ held: Held; first: Result }> {
    const { url } = this.#contention;
    const holder = openPostgresStoreAs(as === undefined ? url : urlAs(url, as), 1);
    this.#holders.push(holder);
    const holding = await holdTransaction(holder, first);
    this.#held.push(holding.held);
    return holding;
  }

  countWaiting(): Promise<number> {
    return this.#contention.countWaiting();
  }

  async countTransactions(): Promise<number> {
    const [row] = await this.raw(
      `select count(*)::int as n from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and state like 'idle in transaction%'`,
    );
    return Number(row?.["n"]);
  }

  /** Deadlocks are counted by the server a moment later. */
  async countDeadlocks(): Promise<number> {
    await this.raw("select pg_stat_clear_snapshot()");
    return this.#contention.countDeadlocks();
  }

  async raw(sql: string): Promise<Record<string, unknown>[]> {
    return (await this.#contention.client.query<Record<string, unknown>>(sql)).rows;
  }

  async close(): Promise<void> {
    await endAll(this.#held);
    await Promise.all(this.#holders.map((holder) => holder.close()));
    await this.#contention.close();
  }
}

/** A transaction that stays open: its first statement's answer, and how to end it. */
export async function holdTransaction<Result>(
  store: TaskStore,
  first: (transaction: StoreTransaction) => Promise<Result>,
): Promise<{ held: Held; first: Result }> {
  const end = createGate();
  const rolledBack = new Error("rolled back by the scene");
  let isRolledBack = false;
  let result: { value: Result } | undefined;
  const over = store.transaction(async (transaction) => {
    result = { value: await first(transaction) };
    await end.opened;
    if (isRolledBack) throw rolledBack;
  });
  const failed = over.then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  let early: { error: unknown } | undefined;
  void failed.then((failure) => (early = failure));
  await until("the first statement is done", () =>
    Promise.resolve(result !== undefined || early !== undefined),
  );
  if (result === undefined) throw early?.error;
  const finish = async (): Promise<void> => {
    end.open();
    const failure = await failed;
    if (failure !== undefined && failure.error !== rolledBack) throw failure.error;
  };
  return {
    first: result.value,
    held: {
      commit: finish,
      rollBack: () => {
        isRolledBack = true;
        return finish();
      },
    },
  };
}

/** What a scene that failed has left open. */
export async function endAll(held: readonly Held[]): Promise<void> {
  await Promise.all(held.map((open) => open.rollBack().catch(() => undefined)));
}
