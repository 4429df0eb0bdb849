import { createHash } from "node:crypto";
import { InvalidArgumentError } from "../../shared/core/errors";
import type { ExecutionNumber, TaskId } from "../../shared/core/ids";
import { asOperationId } from "../../shared/core/ids";
import type { Limit } from "../../shared/ports/task-store";
import { limitOf } from "../../shared/testing/memory-store/rows";
import { createSeededRandom } from "../../shared/testing/seeded-random";
import type { TaskContext } from "../../shared/worker/define/task-context";
import { allChecks } from "./checks/all";
import { Chance } from "./chance";
import { Database } from "./database";
import type { OperationName, StatementCall } from "./database";
import { Host } from "./host";
import { drawDefinitions, drawRequests } from "./kinds";
import type { Definitions, Manners } from "./kinds";
import type { Plant } from "./plant";
import { PartnerCalls } from "./partner-calls";
import { Platform } from "./platform";
import { VirtualTime } from "./virtual-time";
import type { Check, PromiseName, Run, WatchedExecution, Violation, World } from "./watch";
import { bootWorker, work, sweep } from "./worker-process";
import type { WorkerProcess } from "./worker-process";

/** The outcome of one seed. */
export interface SimulationResult {
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly events: number;
  readonly tasks: number;
  /** Bodies that ran on tokens alone. */
  readonly calls: number;
  readonly crashes: number;
  /** The last calls before the first violation, newest last. */
  readonly trace: readonly string[];
  /** Of all calls: equal for equal runs. */
  readonly digest: string;
}

const tickMs = 30_000;
/** A failover loses so much of what was committed last, at most. */
const lostMostMs = 6_000;
/** For so long behind it the promises about what runs aren't judged: a lease, by which all have heard, and the work that is under way. */
const setBackMs = 13_000;
/** The time of faults, deaths and new tasks; then everything must come to its end. */
const chaosMs = 60_000;
const settleMostMs = 30 * 60_000;
/** A run has about 3,000 events; one that never comes to rest is stopped here. */
const eventsMax = 40_000;
const idleMs = 3 * 60_000;
const executionMs = 40_000;
const marginMs = 12_000;
/** Definitions that an operator changes. */
const limitedNames = ["steady", "grouped", "parents"] as const;

/** Runs the shipped worker on several hosts over the memory store; everything else follows from the seed. */
export class Simulation implements World {
  readonly time = new VirtualTime();
  readonly database: Database;
  readonly runs = new Set<Run>();
  readonly executions: WatchedExecution[] = [];
  readonly promised = new Set<TaskId>();
  readonly tickMs = tickMs;
  readonly violations: Violation[] = [];
  begun = 0;
  readonly #seed: number;
  /** In every fourth run a standby takes over that lacks the last commits. */
  readonly losesCommits: boolean;
  readonly #plant: Plant | null;
  readonly #chance: Chance;
  readonly #definitions: Definitions;
  readonly #platform: Platform;
  readonly #partner: PartnerCalls;
  readonly #checks: readonly Check[];
  readonly #processes = new Map<Host, WorkerProcess>();
  readonly #limits = new Map<string, { sinceMs: number; limit: Limit }[]>();
  readonly #trace: string[] = [];
  readonly #digest = createHash("sha256");
  #frozenTrace: readonly string[] | null = null;
  #idleStatements: StatementCall[] | null = null;
  #hostCount = 0;
  #keys = 0;
  #crashes = 0;
  #ticks = 0;
  #isChaos = true;
  #fault: Error | null = null;
  #setBackMs = Number.NEGATIVE_INFINITY;

  constructor(seed: number, plant: Plant | null = null) {
    this.#seed = seed;
    this.losesCommits = seed % 4 === 0 || plant?.failovers !== undefined;
    this.#plant = plant;
    const random = createSeededRandom(seed);
    this.#chance = new Chance(random);
    this.#definitions = drawDefinitions(this.#chance);
    this.database = new Database({
      time: this.time,
      random,
      observer: {
        before: (call) => {
          this.#tell((check) => check.before?.(call));
        },
        after: (call, answer) => {
          this.#note(call, answer);
          this.#tell((check) => check.after?.(call, answer));
        },
      },
      tamper: plant?.tamper?.() ?? null,
    });
    this.#platform = new Platform({
      time: this.time,
      chance: this.#chance,
      busyMax: 3,
      faults: () => ({ lossRate: this.#isChaos ? 0.1 : 0, doubleRate: 0.05 }),
      handle: (host, definition) => this.#work(host, definition),
    });
    this.#partner = new PartnerCalls(this, this.#chance);
    this.#checks = allChecks.map((create) => create(this));
  }

  /** Chaos, then quiet until all has ended, then nothing to do. Stops at the first violation. */
  async run(): Promise<SimulationResult> {
    const hosts = this.#chance.whole(2, 4);
    for (let count = 0; count < hosts; count += 1) this.#startHost();
    this.#tick();
    this.#planChaos();
    await this.time.run(chaosMs, () => this.#isBroken);
    if (!this.#isBroken) await this.#settle();
    if (!this.#isBroken) await this.#idle();
    if (this.#fault !== null) throw this.#fault;
    return {
      seed: this.#seed,
      violations: this.violations,
      events: this.time.events,
      tasks: this.promised.size,
      calls: this.#partner.begun,
      crashes: this.#crashes,
      trace: this.#frozenTrace ?? [],
      digest: this.#digest.digest("hex"),
    };
  }

  /** Is there nothing more to learn from this seed? */
  get #isBroken(): boolean {
    if (this.time.events > eventsMax && this.violations.length === 0)
      this.violate("quiet when idle", `${String(eventsMax)} events, and no rest`);
    return this.violations.length > 0 || this.#fault !== null;
  }

  get wasSetBack(): boolean {
    return this.#setBackMs !== Number.NEGATIVE_INFINITY;
  }

  get isSettingBack(): boolean {
    return this.time.nowMs - this.#setBackMs <= setBackMs;
  }

  greatestLimit(definition: string, sinceMs: number): Limit {
    const entries = this.#limits.get(definition) ?? [];
    let greatest = 0;
    entries.forEach(({ limit }, at) => {
      const untilMs = entries[at + 1]?.sinceMs ?? Number.POSITIVE_INFINITY;
      if (untilMs >= sinceMs) greatest = Math.max(greatest, limit ?? Number.POSITIVE_INFINITY);
    });
    return greatest === Number.POSITIVE_INFINITY ? null : greatest;
  }

  violate(promise: PromiseName, text: string): void {
    this.#frozenTrace ??= this.#trace.slice(-40);
    this.violations.push({ promise, atMs: this.time.nowMs, text });
  }

  /** Trouble makes calls fail. A call that is refused for its arguments would fail always, and prove nothing. */
  readonly #expectTrouble = (error: unknown): void => {
    if (error instanceof InvalidArgumentError) this.#fault ??= error;
  };

  /** A check that throws must end the run: the worker would take its error for the database's. */
  #tell(hook: (check: Check) => void): void {
    try {
      for (const check of this.#checks) hook(check);
    } catch (error) {
      this.#fault ??= error instanceof Error ? error : new Error(String(error));
    }
  }

  #note(call: StatementCall, answer: unknown): void {
    const { status } = answer as { status?: string };
    // Stacks differ from run to run.
    const input = JSON.stringify(call.input).replace(/"error":"(?:[^"\\]|\\.)*"/g, '"error":".."');
    const line = `${this.time.nowMs.toFixed(1)} ${call.host?.name ?? "person"} ${call.operation} ${input} -> ${status ?? JSON.stringify(answer)}`;
    this.#digest.update(line);
    this.#trace.push(line);
    if (this.#trace.length > 200) this.#trace.splice(0, 100);
    this.#idleStatements?.push(call);
    for (const definition of this.database.rows.definitions.values()) {
      const entries = this.#limits.get(definition.name) ?? [];
      const limit = limitOf(definition);
      if (entries.length === 0 || entries.at(-1)?.limit !== limit)
        entries.push({ sinceMs: this.database.nowMs, limit });
      this.#limits.set(definition.name, entries);
    }
  }

  #startHost(): void {
    const name = `host-${String((this.#hostCount += 1))}`;
    const chance = this.#chance;
    const host = new Host(name, {
      time: this.time,
      wallOffsetMs: chance.is(0.5) ? 0 : chance.between(-3, 3) * 3_600_000,
      onCrash: (dead) => {
        this.#onCrash(dead);
      },
      codeMs: () => chance.between(0, 0.5),
    });
    if (this.#isChaos && chance.is(0.7)) host.crashAtStep = chance.whole(1, 600);
    this.#processes.set(host, this.#boot(host));
    this.#platform.hosts.push(host);
  }

  #boot(host: Host): WorkerProcess {
    return bootWorker({
      host,
      time: this.time,
      chance: this.#chance,
      database: this.database,
      plant: this.#plant,
      definitions: this.#definitions,
      manners: () => this.#manners(),
      faults: () => ({ rate: this.#isChaos ? 0.04 : 0, slowRate: this.#isChaos ? 0.03 : 0 }),
      sendHint: (text, delaySeconds) => {
        this.#platform.send(text, delaySeconds);
      },
      observer: {
        begin: (on, context) => this.#begin(on, context),
        end: (run) => void this.runs.delete(run),
      },
    });
  }

  #begin(host: Host, context: TaskContext): Run {
    const executionId = this.#holderOf(host, context.taskId, context.fence);
    const run: Run = {
      host,
      taskId: context.taskId,
      definition: context.definition,
      signal: context.signal,
      fence: context.fence,
      start: this.#startOf(executionId),
      forgottenMs: null,
      executionId,
    };
    // It died within this turn: what follows in it never ran.
    if (host.isDead) return run;
    this.begun += 1;
    this.runs.add(run);
    this.#tell((check) => check.begin?.(run));
    return run;
  }

  #manners(): Manners {
    return this.#isChaos
      ? { failRate: 0.08, partRate: 0.05, deafRate: 0.02, longRate: 0.03 }
      : { failRate: 0, partRate: 0, deafRate: 0, longRate: 0 };
  }

  #holderOf(host: Host, taskId: TaskId, fence: string): ExecutionNumber | null {
    for (const row of this.database.rows.executions.values())
      if (row.worker === host.name)
        for (const claim of row.claims)
          if (claim.taskId === taskId && claim.fence === fence) return row.executionId;
    return null;
  }

  #startOf(executionId: ExecutionNumber | null): string | null {
    if (executionId === null) return null;
    return this.database.rows.executions.get(executionId)?.operationId ?? null;
  }

  #onCrash(host: Host): void {
    this.#crashes += 1;
    for (const run of this.runs) if (run.host === host) this.runs.delete(run);
    this.#processes.delete(host);
    this.time.after(this.#chance.between(500, 8_000), () => {
      this.#startHost();
    });
  }

  async #work(host: Host, definition: string): Promise<void> {
    const own = this.#processes.get(host);
    if (own === undefined) return;
    const execution: WatchedExecution = {
      host,
      definition,
      beganMs: this.time.nowMs,
      deadlineMs: this.time.nowMs + executionMs,
      endedMs: null,
    };
    this.executions.push(execution);
    this.time.after(executionMs, () => {
      this.#tell((check) => check.deadline?.(execution));
    });
    try {
      await work(own, definition, { lastsMs: executionMs, marginMs });
    } finally {
      execution.endedMs = this.time.nowMs;
    }
  }

  /** What shared/functions/sweep.ts does, on some host that is awake. */
  #tick(): void {
    const { awake } = this.#platform;
    const own = awake.length === 0 ? undefined : this.#processes.get(this.#chance.pick(awake));
    // No host is up: Azure starts one.
    this.time.after(own === undefined ? 1_000 : tickMs, () => {
      this.#tick();
    });
    if (own === undefined) return;
    this.#ticks += 1;
    const isFirst = this.#ticks === 1;
    own.host.deliver(0, () => {
      sweep(own, isFirst).catch(this.#expectTrouble);
    });
  }

  #planChaos(): void {
    const chance = this.#chance;
    const often = (count: number, act: () => void): void => {
      for (let at = 0; at < count; at += 1) this.time.after(chance.between(0, chaosMs), act);
    };
    const some = (hosts = this.#platform.awake): Host | undefined =>
      hosts.length === 0 ? undefined : chance.pick(hosts);
    const someAtWork = (): Host | undefined =>
      some(this.#platform.awake.filter((host) => [...this.runs].some((run) => run.host === host)));
    this.time.after(chance.between(0, 5_000), () => {
      for (let at = 0; at < 10; at += 1) this.#enqueue(some());
    });
    often(20, () => {
      this.#enqueue(some());
    });
    often(20, () => {
      const host = some();
      const own = host === undefined ? undefined : this.#processes.get(host);
      own?.host.deliver(0, () => {
        this.#partner.make(own).catch(this.#expectTrouble);
      });
    });
    often(4, () => someAtWork()?.freeze(chance.between(100, 20_000)));
    often(8, () => {
      // A clock that is set while its machine is suspended hides the suspension: not both on one host.
      const host = someAtWork();
      if (host !== undefined && !host.wasStepped) host.suspend(chance.between(1_000, 20_000));
    });
    often(3, () => {
      const host = some();
      if (host !== undefined && !host.wasSuspended)
        host.stepWall(chance.between(-2, 2) * 3_600_000);
    });
    often(2, () => some()?.crash());
    if (this.losesCommits)
      often(this.#plant?.failovers ?? 4, () => {
        this.#failOver(chance.between(50, lostMostMs));
      });
    often(10, () => {
      void this.#setLimit(chance.pick(limitedNames), chance.whole(0, 6));
    });
    often(2, () => {
      const name = chance.pick(limitedNames);
      void this.#order("pauseDefinition", name);
      this.time.after(chance.between(100, 5_000), () => void this.#order("resumeDefinition", name));
    });
  }

  /** A standby that lacks what is committed within that time takes over. */
  #failOver(lostMs: number): void {
    const kept = this.database.keep();
    const promised = new Set(this.promised);
    const keptMs = this.time.nowMs;
    this.time.after(lostMs, () => {
      // A standby of before another failover knows what that one has lost.
      if (!this.#isChaos || keptMs <= this.#setBackMs) return;
      this.database.setBack(kept);
      this.#setBackMs = this.time.nowMs;
      for (const taskId of this.promised) if (!promised.has(taskId)) this.promised.delete(taskId);
      const starts = new Set(
        [...this.database.rows.executions.values()].map((row) => row.operationId),
      );
      for (const run of this.runs) {
        run.executionId = this.#holderOf(run.host, run.taskId, run.fence);
        if (run.start !== null && !starts.has(run.start)) run.forgottenMs ??= this.time.nowMs;
      }
      this.#tell((check) => check.setBack?.());
    });
  }

  #enqueue(host: Host | undefined): void {
    const own = host === undefined ? undefined : this.#processes.get(host);
    if (own === undefined) return;
    const requests = drawRequests(this.#chance, own.kinds, () => `k${String((this.#keys += 1))}`);
    const sentMs = this.time.nowMs;
    own.client.enqueueAll(requests).then((answers) => {
      // Some of what it tells may be lost by now.
      if (this.#setBackMs >= sentMs) return;
      for (const { taskId } of answers) this.promised.add(taskId);
    }, this.#expectTrouble);
  }

  async #setLimit(name: string, limit: number | "code"): Promise<void> {
    await this.#order("setLimit", name, {
      limit,
      operationId: asOperationId(this.#chance.random.uuid()),
    });
  }

  /** What an operator does, from nearby. */
  async #order(operation: OperationName, name: string, more: object = {}): Promise<void> {
    const isKnown = [...this.database.rows.definitions.values()].some((row) => row.name === name);
    if (!isKnown) return;
    await this.database.execute({
      host: null,
      operation,
      input: { name, changedBy: "an operator", ...more },
      within: undefined,
      sentMs: this.time.nowMs,
      arrivedMs: this.time.nowMs,
    });
  }

  async #settle(): Promise<void> {
    this.#isChaos = false;
    for (const host of this.#platform.hosts) host.crashAtStep = Number.POSITIVE_INFINITY;
    for (const name of limitedNames) {
      await this.#setLimit(name, "code");
      await this.#order("resumeDefinition", name);
    }
    let isOver = false;
    const look = (): void => {
      isOver =
        this.database.rows.tasks.size === 0 &&
        this.executions.every((execution) => execution.endedMs !== null || execution.host.isDead);
      if (!isOver) this.time.after(1_000, look);
    };
    look();
    await this.time.run(chaosMs + settleMostMs, () => isOver || this.#isBroken);
    if (this.#isBroken) return;
    this.#tell((check) => check.settled?.());
  }

  async #idle(): Promise<void> {
    // Hints on their way, and leases of the dead, come to their end first.
    await this.time.run(this.time.nowMs + 3 * tickMs, () => this.#isBroken);
    this.#idleStatements = [];
    const ticks = this.#ticks;
    await this.time.run(this.time.nowMs + idleMs, () => this.#isBroken);
    const statements = this.#idleStatements;
    this.#tell((check) => check.idle?.(statements, this.#ticks - ticks));
  }
}

/** Runs one seed. */
export function simulate(seed: number, plant: Plant | null = null): Promise<SimulationResult> {
  return new Simulation(seed, plant).run();
}
