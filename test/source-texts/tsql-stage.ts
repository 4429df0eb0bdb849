import type { SqlValue, TaskStore } from "../../shared/ports/task-store";
import { realClock } from "../../shared/platform/real-clock";
import { loadScript } from "../tsql-server/engine/load";
import type { World } from "../tsql-server/engine/world";
import { timeIsUp, waitingConnections } from "../tsql-server/schedule/step";
import type { SimulatedServer } from "../tsql-server/tds/simulated-server";
import type { TaskgateServerOptions } from "../tsql/wire/start-taskgate-server";
import type { Worker } from "../support/builders";
import { idsOf, testSeed } from "../support/builders";
import { until } from "../support/gate";
import { openMssqlStoreAs, openPlainMssqlStore } from "../support/mssql-setup";
import { startSimulated } from "../support/simulated-mssql-setup";
import { plantedText } from "./planted-text";
import { endAll, holdTransaction } from "./postgres-stage";
import type { Held, OpenClaim, Stage, StageOptions, StageSetup } from "./stage";

/** How often the simulated server's clock is set by the machine's. */
const tickMs = 2;

/** The shipped T-SQL behind TDS: a copy of the migrated database for each scene. Who moves next is drawn by lot. */
export function tsqlStages(options: TaskgateServerOptions = {}): StageSetup<TsqlStage> {
  let starting: Promise<SimulatedServer> | undefined;
  const engine = { seed: testSeed(), stepsPerTurn: 20 };
  return {
    dialect: "mssql",
    open: async (stage = {}) => {
      const server = await (starting ??= startSimulated({ engine, ...options }));
      const world = server.reset();
      if (stage.planted !== undefined)
        loadScript(world, plantedText(stage.planted), stage.planted.file);
      return new TsqlStage(server.url, world, stage);
    },
    close: async () => {
      await (await starting)?.close();
    },
  };
}

export class TsqlStage implements Stage {
  readonly dialect = "mssql";
  readonly world: World;
  readonly plain: TaskStore;
  readonly #url: string;
  readonly #options: StageOptions;
  readonly #stores: TaskStore[] = [];
  readonly #held: Held[] = [];
  readonly #ticking: NodeJS.Timeout;
  readonly #startMs = realClock.monotonicMs();
  readonly #firstMs: number;
  #offsetMs = 0;

  constructor(url: string, world: World, options: StageOptions) {
    this.#url = url;
    this.world = world;
    this.#options = options;
    this.#firstMs = world.clock;
    this.#ticking = setInterval(() => {
      this.#tick();
    }, tickMs);
    this.plain = this.#open(4);
  }

  /** The server's clock runs with the machine's. */
  #tick(): void {
    const runMs = Math.floor(realClock.monotonicMs() - this.#startMs);
    this.world.clock = this.#firstMs + runMs + this.#offsetMs;
  }

  #open(connectionsMax: number): TaskStore {
    const store = openPlainMssqlStore(this.#url, connectionsMax);
    this.#stores.push(store);
    return store;
  }

  openStore(connectionsMax: number): TaskStore {
    const store = this.#open(connectionsMax);
    return this.#options.change?.(store) ?? store;
  }

  advance(ms: number): Promise<void> {
    this.#offsetMs += ms;
    this.#tick();
    return Promise.resolve();
  }

  /** A reader keeps the execution's row: the claim has taken its tasks by then, and can't write the row and commit. */
  async openClaim(worker: Worker, want: number): Promise<OpenClaim> {
    const sql =
      "SELECT x.State FROM Taskgate.TaskExecution AS x WITH (ROWLOCK, REPEATABLEREAD) WHERE x.TaskExecutionId = @p1";
    const held = await this.#hold(sql, [worker.number]);
    const before = new Set(waitingConnections(this.world));
    const claim = worker.claim(want);
    claim.catch(() => undefined);
    const own = () => waitingConnections(this.world).filter((waiting) => !before.has(waiting));
    await until("the claim waits at its end", () => Promise.resolve(own().length === 1));
    return {
      taskIds: claim.then(idsOf),
      commit: async () => {
        await held.commit();
        await claim;
      },
      rollBack: async () => {
        own().forEach(timeIsUp);
        // A call is needed, so that the server moves on.
        await held.commit();
        await claim.catch(() => undefined);
      },
    };
  }

  holdDefinition(name: string, limit?: number): Promise<Held> {
    return this.#hold(
      `UPDATE d SET HoldLockTaskExecutionId = 0, ConcurrencyLimitOverride = COALESCE(@p2, d.ConcurrencyLimitOverride)
         FROM Taskgate.TaskDefinition AS d WITH (ROWLOCK, UPDLOCK, HOLDLOCK) WHERE d.Name = @p1`,
      [name, limit ?? null],
    );
  }

  async #hold(sql: string, values: readonly SqlValue[]): Promise<Held> {
    const owner = openMssqlStoreAs(this.#url, 1);
    this.#stores.push(owner);
    const { held } = await holdTransaction(owner, (transaction) => transaction.query(sql, values));
    this.#held.push(held);
    return held;
  }

  countWaiting(): Promise<number> {
    return Promise.resolve(waitingConnections(this.world).length);
  }

  countTransactions(): Promise<number> {
    const open = this.world.connections.filter(
      ({ state, transaction }) => state === "idle" && transaction !== undefined,
    );
    return Promise.resolve(open.length);
  }

  countDeadlocks(): Promise<number> {
    return Promise.resolve(this.world.deadlocks);
  }

  async close(): Promise<void> {
    clearInterval(this.#ticking);
    await endAll(this.#held);
    await Promise.all(this.#stores.map((store) => store.close()));
  }
}
