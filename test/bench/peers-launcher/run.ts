import { sleep } from "../../../shared/platform/real-clock";
import { Agent } from "./agent";
import type { StackTaker } from "./flames/stack-taker";
import type { Installed } from "./install";
import type { BenchPostgres } from "./postgres";
import type { Seen, Setup, WorkKind } from "./protocol";
import type { BenchRedis } from "./redis";
import { serverCpuS } from "./server-cpu";
import type { Variant } from "./variant";

/** What all runs share. */
export interface Lab {
  readonly installed: Installed;
  readonly postgres: BenchPostgres;
  readonly redis: BenchRedis | null;
  readonly isQuick: boolean;
  /** null: figures are wanted, which samples of stacks would spoil. */
  readonly stacks: StackTaker | null;
}

/** The clock of `Calls`: monotonic, and the same in all processes. */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Processor time of a stretch, seconds. */
export interface CpuUse {
  readonly serverCpuS: number | null;
  readonly clientsCpuS: number | null;
}

/** How much a run is given to do, the same for every system. */
export interface Conditions {
  readonly work: WorkKind;
  readonly processes: number;
  readonly inFlight: number;
  readonly limit: number;
  readonly taskMs: number;
  readonly callers: number;
  /** Statements are counted, which costs a little. */
  readonly counts: boolean;
}

/** One round of one system: a fresh store, a process that enqueues, and the workers. */
export class Run {
  readonly lab: Lab;
  readonly conditions: Conditions;
  readonly variant: Variant;
  readonly #setup: Setup;
  readonly #workers: Agent[] = [];
  #client: Agent | null = null;
  #settings = "";

  private constructor(lab: Lab, about: { conditions: Conditions; variant: Variant; url: string }) {
    this.lab = lab;
    this.conditions = about.conditions;
    this.variant = about.variant;
    const { work, processes, inFlight, limit, taskMs, callers } = about.conditions;
    this.#setup = {
      system: about.variant.system,
      style: about.variant.style ?? "best",
      keeps: about.variant.keeps ?? true,
      url: about.url,
      redisPort: lab.redis?.port ?? null,
      index: 0,
      ...{ work, processes, inFlight, limit, taskMs, callers },
    };
  }

  static async open(lab: Lab, conditions: Conditions, variant: Variant): Promise<Run> {
    const url = await lab.postgres.freshDatabase(conditions);
    await lab.redis?.empty();
    const run = new Run(lab, { conditions, variant, url });
    try {
      run.#client = new Agent(lab.installed);
      const { settings } = await run.#client.call("open", { setup: run.#setup });
      run.#settings = settings;
      await run.#client.call("prepare", {});
      return run;
    } catch (error) {
      await run.close();
      throw error;
    }
  }

  /** What the system says of its set-up. */
  get settings(): string {
    return this.#settings;
  }

  /** Tasks of this run: a tenth in a quick one. */
  get tasks(): number {
    return this.lab.isQuick ? Math.ceil(this.variant.tasks / 10) : this.variant.tasks;
  }

  get client(): Agent {
    if (this.#client === null) throw new Error("the enqueuing process has ended");
    return this.#client;
  }

  /** Its own timers and polls end with it. */
  async endClient(): Promise<void> {
    await this.#client?.end();
    this.#client = null;
  }

  /** Worker processes that have loaded everything, so that all of them begin at the same moment. */
  async loadWorkers(): Promise<void> {
    for (let index = 0; index < this.conditions.processes; index += 1)
      this.#workers.push(new Agent(this.lab.installed));
    await Promise.all(
      this.#workers.map((agent, index) => agent.call("open", { setup: { ...this.#setup, index } })),
    );
  }

  async work(): Promise<void> {
    await Promise.all(this.#workers.map((agent) => agent.call("work", {})));
  }

  /** Tasks that handlers have run, as far as it is told; of the latest word, the instant. */
  handled(): { count: number; atMs: number } {
    const told = this.#workers.map(({ progress }) => progress);
    return {
      count: told.reduce((sum, { handled }) => sum + handled, 0),
      atMs: Math.max(...told.map(({ atMs }) => atMs)),
    };
  }

  /** Waits until so many are told; false: it took longer than that. */
  async untilHandled(count: number, mostMs: number): Promise<boolean> {
    const untilMs = nowMs() + mostMs;
    const told = new Promise<void>((resolve) => {
      const look = (): void => {
        if (this.handled().count >= count) resolve();
      };
      for (const agent of this.#workers) agent.onProgress = look;
      look();
    });
    const patience = new AbortController();
    await Promise.race([told, sleep(Math.max(0, untilMs - nowMs()), patience.signal)]);
    patience.abort();
    return this.handled().count >= count;
  }

  /** Waits until every task is durably done, which is later than its handler's end. */
  async untilDone(mostMs: number): Promise<boolean> {
    const untilMs = nowMs() + mostMs;
    while (nowMs() < untilMs) {
      const { count } = await this.client.call("unfinished", {});
      if (count === 0) return true;
      await sleep(2);
    }
    return false;
  }

  seen(): Promise<Seen[]> {
    return Promise.all(this.#workers.map((agent) => agent.call("seen", {})));
  }

  /** Starts to count processor time; the answer ends it. */
  startCpu(): () => CpuUse {
    const server = this.variant.system === "bullmq" ? this.lab.redis : this.lab.postgres;
    const clientsMs = (): number =>
      this.#workers.reduce((sum, { progress }) => sum + progress.cpuMs, 0);
    const read = (): { server: number | null; clients: number } => ({
      server: server === null ? null : serverCpuS(server.pid),
      clients: clientsMs() / 1_000,
    });
    const before = read();
    return () => {
      const after = read();
      return {
        serverCpuS:
          after.server === null || before.server === null ? null : after.server - before.server,
        clientsCpuS: after.clients - before.clients,
      };
    };
  }

  /** Takes stacks of the server and of what is measured, where the lab wants them; the answer ends it. */
  async startStacks(agents: readonly Agent[] = this.#workers): Promise<() => Promise<void>> {
    const { stacks, postgres } = this.lab;
    return stacks === null ? async () => undefined : stacks.start(postgres.pid, agents);
  }

  /** Ends its processes: nothing of a finished run is worth waiting for. */
  async close(): Promise<void> {
    await Promise.all(
      [...this.#workers, ...(this.#client === null ? [] : [this.#client])].map((agent) =>
        agent.kill(),
      ),
    );
  }
}
