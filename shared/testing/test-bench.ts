import { checkNames } from "../core/known-names";
import { instantMs } from "../core/instant";
import type { InvalidArgumentError } from "../core/errors";
import { wrongValue } from "../core/wrong-value";
import { isKindNamed } from "../core/kind-version";
import { asTaskId } from "../core/ids";
import { realClock } from "../platform/real-clock";
import type { StoreTransaction, TaskStore } from "../ports/task-store";
import { noTelemetry } from "../ports/telemetry";
import { TaskClient } from "../worker/client/client";
import type { Enqueued } from "../enqueue/enqueue-prepared";
import type { WorkerEnvironment } from "../worker/environment";
import { BatchPump } from "../worker/run/batch-pump";
import { Heartbeat } from "../worker/run/heartbeat";
import { register } from "../worker/client/register";
import { checkTasks, createRegistry } from "../worker/define/registry";
import type { Registry } from "../worker/define/registry";
import { reclaim, runWorker } from "../worker/run/run-worker";
import { fireSchedules, registerSchedules } from "../worker/run/schedules";
import { checkBench, checkMaxRuns, checkMs, checkState } from "./check-options";
import { CrashingStore } from "./crashing-store";
import { ownTimers } from "./own-timers";
import { createRecordingLogger } from "./recording-logger";
import type { LogLine } from "./recording-logger";
import { createSeededRandom } from "./seeded-random";
import type { SqlFake, SqlStatement } from "./sql-fake";
import { describeTask } from "./test-task";
import type { TestTask, TestTaskState } from "./test-task";
import type { AnyTaskKind, Definition, RunnableKind } from "../worker/define/task-kind";
import { defineQueue } from "../worker/define/define-queue";
import type {
  AnyTaskRef,
  ClientEnqueueOptions,
  EnqueueArguments,
  EnqueueCalls,
  TaskInput,
  TaskRequest,
} from "../worker/define/task-ref";

/** How a bench is set up. */
export interface TestBenchOptions {
  /** Where the bench's clock stands at first; default 2030-01-01T00:00Z. */
  startAt?: Date;
  /** Decides the random part of back-offs; default 1. */
  seed?: number;
  /** Definitions of other code: tasks may be added to them, nothing here runs them. */
  others?: readonly (Definition | string)[];
  /** Answers statements inside `ctx.completeWith`; without it they throw. */
  sql?: SqlFake;
  /** Tasks of one definition that run at a time, within its limit; default 1: one after the other, in order. */
  concurrency?: number;
}

/** What `drain` did. */
export interface DrainReport {
  /** Handlers started. */
  readonly ran: number;
}

/** What `settle` did. */
export interface SettleReport extends DrainReport {
  /** How far the clock was moved. */
  readonly movedMs: number;
}

/** Which tasks; all given parts must fit. */
export interface TaskFilter {
  readonly kind?: AnyTaskKind | string;
  readonly state?: TestTaskState;
}

/**
 * Taskgate in memory, for tests of several tasks together: the shipped worker over the store that the contract suite
 * holds to the same answers as SQL. Its clock stands still until the test moves it, so retries, schedules, dedupe times
 * and leases happen when the test says so; handlers run in real time. One bench per test: nothing is shared.
 */
export class TestBench implements EnqueueCalls {
  /** For calls that have no method here: limits, pauses, `explainTask`, `checkInvariants`. */
  readonly store: TaskStore;
  readonly log: LogLine[] = [];
  /** Definitions that hints were left for, in order. */
  readonly hints: { readonly definition: string; readonly inMs: number }[] = [];
  readonly #options: TestBenchOptions;
  readonly #store: CrashingStore;
  readonly #environment: WorkerEnvironment;
  readonly #registry: Registry;
  readonly #client: TaskClient;
  readonly #heartbeat: Heartbeat;
  readonly #startMs: number;
  #nowMs: number;
  #isRegistering = false;
  #prepared: Promise<void> | null = null;
  #run: { count: number; max: number; last: string; stop: AbortController } | null = null;

  /**
   * Throws InvalidArgumentError when a kind comes twice or two definitions of one name differ. It throws it also for an
   * unknown option, or a value that there can't be.
   */
  constructor(kinds: readonly AnyTaskKind[], options: TestBenchOptions = {}) {
    checkTasks(kinds);
    checkBench(options);
    this.#options = options;
    this.#startMs = instantMs("startAt", options.startAt ?? new Date("2030-01-01T00:00:00Z"));
    this.#nowMs = this.#startMs;
    const random = createSeededRandom(options.seed ?? 1);
    this.#store = new CrashingStore(
      { clock: { now: () => (this.#isRegistering ? this.#startMs : this.#nowMs) }, random },
      options.sql ?? null,
    );
    this.store = this.#store;
    this.#registry = createRegistry(
      kinds.map((kind) => this.#counted(kind as unknown as RunnableKind)),
    );
    this.#environment = {
      store: this.#store,
      clock: realClock,
      timers: ownTimers,
      random,
      logger: createRecordingLogger(this.log),
      telemetry: noTelemetry,
      wakeUp: {
        hint: async (definition, hint) =>
          void this.hints.push({ definition, inMs: hint?.inMs ?? 0 }),
      },
      workerName: "test",
      build: 1,
    };
    this.#heartbeat = new Heartbeat(this.#environment);
    this.#client = new TaskClient(this.#environment, this.#registry);
  }

  /** The bench's clock. */
  now(): Date {
    return new Date(this.#nowMs);
  }

  /** Moves the clock; runs nothing. Schedules count from the bench's start. */
  advance(ms: number): void {
    checkMs("ms", ms);
    this.#nowMs += ms;
  }

  /** As `EnqueueCalls` says. */
  async enqueue<Task extends AnyTaskRef>(
    task: Task,
    ...payloadAndOptions: EnqueueArguments<TaskInput<Task>, ClientEnqueueOptions>
  ): Promise<Enqueued> {
    await this.#prepare();
    return this.#client.enqueue(task, ...payloadAndOptions);
  }

  /** As `EnqueueCalls` says. */
  async enqueueMany<Task extends AnyTaskRef>(
    task: Task,
    payloads: readonly TaskInput<Task>[],
    options: Omit<ClientEnqueueOptions, "dedupeKey"> = {},
  ): Promise<Enqueued[]> {
    await this.#prepare();
    return this.#client.enqueueMany(task, payloads, options);
  }

  /** As `EnqueueCalls` says. */
  async enqueueAll(
    requests: readonly TaskRequest[],
    options: { transaction?: StoreTransaction } = {},
  ): Promise<Enqueued[]> {
    await this.#prepare();
    return this.#client.enqueueAll(requests, options);
  }

  /**
   * Runs everything that may run at this instant, children included, until nothing is left; tasks that wait for their
   * instant, for a permit of a rate or for a lease stay. Failing handlers don't make it fail. Throws when more than `maxRuns` (default 1,000)
   * handlers start: tasks that add each other for ever.
   */
  async drain(options: { maxRuns?: number } = {}): Promise<DrainReport> {
    checkNames("drain", options, ["maxRuns"]);
    const { maxRuns = 1_000 } = options;
    checkMaxRuns(maxRuns);
    await this.#prepare();
    const run = {
      count: 0,
      max: maxRuns,
      last: "",
      stop: new AbortController(),
    };
    this.#run = run;
    try {
      let before: number;
      do {
        before = run.count;
        await this.#lookAround();
        for (const { name } of this.#registry.definitions) await this.#work(name, run.stop.signal);
      } while (run.count > before && run.count <= run.max);
    } finally {
      this.#run = null;
    }
    if (run.count > run.max)
      throw new Error(
        `drain: more than ${String(run.max)} handlers were started, the last of kind \`${run.last}\`: do tasks add each other for ever?`,
      );
    return { ran: run.count };
  }

  /**
   * Drains, moves the clock to the next instant at which something may happen, drains again, until nothing more comes within
   * `maxMs` (default 24 h): retries run to their end. Such an instant belongs to a delayed task, a retry or a schedule. It
   * may also be the next permit of a rate, or the end of the lease of a dead worker. Paused tasks, and those under a limit of
   * 0, stay. Bounds as for `drain`, over all of it.
   */
  async settle(options: { maxRuns?: number; maxMs?: number } = {}): Promise<SettleReport> {
    checkNames("settle", options, ["maxRuns", "maxMs"]);
    const { maxMs = 24 * 3_600_000, maxRuns = 1_000 } = options;
    checkMs("maxMs", maxMs);
    checkMaxRuns(maxRuns);
    const startMs = this.#nowMs;
    let { ran } = await this.drain({ maxRuns });
    for (;;) {
      const inMs = this.#store.nextInstantMs();
      const isOver = inMs === null || this.#nowMs + inMs - startMs > maxMs;
      if (isOver) return { ran, movedMs: this.#nowMs - startMs };
      this.advance(inMs);
      const more = await this.drain({ maxRuns: maxRuns - ran });
      ran += more.ran;
    }
  }

  /**
   * The next worker that has run a task of this kind dies before the database hears of it: what the handler did stays
   * done, and the task runs again once its lease is over (`settle`, or `advance` past `leaseMs`, then `drain`). What `ctx.completeWith`
   * wrote is rolled back.
   */
  crashBeforeCompletion(kind: AnyTaskKind | string): void {
    const name = nameOf(kind);
    if (this.#registry.kind(name) === null) throw this.#unknownKind(name);
    this.#store.crashBeforeCompletion(name);
  }

  /**
   * Tasks by id, oldest first: those that wait and those that ended, from any caller. Throws InvalidArgumentError for a state that
   * there isn't. It throws it also for a kind that the bench hasn't, unless such a task is there or `others` may have it.
   */
  async tasks(filter: TaskFilter = {}): Promise<TestTask[]> {
    checkNames("tasks", filter, ["kind", "state"]);
    checkState(filter.state);
    const ids = Object.keys(this.#store.inspect().places).sort((a, b) => Number(a) - Number(b));
    const answers = await Promise.all(
      ids.map((id) => this.#store.explainTask({ taskId: asTaskId(id) })),
    );
    const kind = filter.kind === undefined ? undefined : nameOf(filter.kind);
    const all = answers.flatMap(({ facts }) => (facts === null ? [] : [describeTask(facts)]));
    const named = all.filter((task) => kind === undefined || isKindNamed(task.kind, kind));
    // Which kinds the definitions of other code have isn't known here.
    const isTypo = kind !== undefined && named.length === 0 && this.#registry.kind(kind) === null;
    if (isTypo && (this.#options.others ?? []).length === 0) throw this.#unknownKind(kind);
    return named.filter((task) => filter.state === undefined || task.state === filter.state);
  }

  /** Tasks that gave up or used up their attempts, with their errors. */
  deadLetters(): Promise<TestTask[]> {
    return this.tasks({ state: "dead" });
  }

  /** Statements that handlers sent inside `ctx.completeWith`, also those that were rolled back. */
  get statements(): readonly SqlStatement[] {
    return this.#store.statements;
  }

  #unknownKind(name: unknown): InvalidArgumentError {
    const known = this.#registry.definitions.flatMap(({ kinds = [] }) =>
      kinds.map((each) => each.kind),
    );
    return wrongValue("kind", `one of the bench's: ${known.join(", ")}`, name);
  }

  /** Whichever call comes first: a constructor can't wait. Until that is over others wait, too. */
  #prepare(): Promise<void> {
    return (this.#prepared ??= this.#register());
  }

  /** As at the bench's start, wherever the clock stands by now: schedules count from there. */
  async #register(): Promise<void> {
    const others = (this.#options.others ?? []).map((other) =>
      typeof other === "string" ? defineQueue({ name: other }) : other,
    );
    this.#isRegistering = true;
    try {
      for (const definition of [...this.#registry.definitions, ...others])
        await register(this.#environment, definition);
      await registerSchedules(this.#environment, this.#registry);
    } finally {
      this.#isRegistering = false;
    }
  }

  /** The sweep's part: what dead workers held comes back, and schedules that are due are fired. */
  async #lookAround(): Promise<void> {
    const { expired, schedules, opening } = await this.#store.sweep({ max: 1_000 });
    if (expired > 0) await reclaim(this.#environment);
    await fireSchedules(this.#environment, schedules, Infinity);
    const pump = new BatchPump(this.#environment, Infinity);
    pump.open(opening);
    await pump.settled();
  }

  async #work(name: string, signal: AbortSignal): Promise<void> {
    const deadlineMs = realClock.monotonicMs() + 24 * 3_600_000;
    const { concurrency = 1 } = this.#options;
    await runWorker(
      {
        environment: this.#environment,
        registry: this.#registry,
        heartbeat: this.#heartbeat,
        concurrencyPerWorker: concurrency,
        idleReads: 0,
        idlePauseMs: 5,
      },
      name,
      { deadlineMs, marginMs: 1_000, signal },
    );
  }

  /** The same kind, for one worker as wide as the bench says; its runs are counted. */
  #counted(kind: RunnableKind): RunnableKind {
    const definition = Object.freeze({ ...kind.definition, concurrencyPerWorker: null });
    return {
      ...kind,
      definition,
      run: (payload, context) => {
        const run = this.#run;
        if (run !== null) {
          run.count += 1;
          run.last = kind.kind;
          if (run.count > run.max) {
            run.stop.abort();
            return Promise.reject(new Error("the test's bound is reached"));
          }
        }
        return kind.run(payload, context);
      },
    };
  }
}

function nameOf(kind: AnyTaskKind | string): string {
  const name: unknown = typeof kind === "string" ? kind : kind.kind;
  if (typeof name === "string") return name;
  throw wrongValue("kind", "what defineTask returns, or its name", kind);
}
