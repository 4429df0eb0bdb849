import { setImmediate } from "node:timers";
import type { LogFields, Logger } from "../../../shared/ports/logger";
import type { TaskStore } from "../../../shared/ports/task-store";
import { MemoryTaskStore } from "../../../shared/testing/memory-store/memory-task-store";
import { createSeededRandom } from "../../../shared/testing/seeded-random";
import type { WorkerEnvironment } from "../../../shared/worker/environment";
import { Heartbeat } from "../../../shared/worker/run/heartbeat";
import { LimitPools } from "../../../shared/worker/run/limit-pools";
import type { CallLimits } from "../../../shared/worker/run/call-limits";
import { withTokens } from "../../../shared/worker/run/with-tokens";
import type { WithTokensAnswer, WithTokensOptions } from "../../../shared/worker/run/with-tokens";
import { recordTelemetry } from "../../support/recorded-telemetry";
import type { RecordedTelemetry } from "../../support/recorded-telemetry";
import { epochMs, Host } from "../../workers/host";
import { VirtualTime } from "../../workers/virtual-time";

/** The time of a database call, there and back. */
export const callMs = 4;

/** One process that makes calls under limits; its clock and its timers are the scene's. */
export interface CallingProcess {
  readonly host: Host;
  readonly pools: LimitPools;
  /** Names of the store's methods that it called, in order. */
  readonly asked: string[];
  readonly lines: { message: string; fields: LogFields | undefined }[];
  readonly telemetry: RecordedTelemetry;
  /** One call whose body takes a given time, or until its signal is aborted. */
  call(limit: CallLimits, options?: WithTokensOptions & { bodyMs?: number }): Call;
}

/** A call, as the test follows it. */
export interface Call {
  beganMs: number | null;
  endedMs: number | null;
  wasAborted: boolean;
  answer: WithTokensAnswer<void> | null;
  answeredMs: number | null;
  error: unknown;
}

/** Resolves when no promise of this turn is left to settle. */
function settled(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

/** Processes over one memory store, in virtual time: a run is a function of its seed. */
export class TokenScene {
  readonly time = new VirtualTime();
  readonly store: MemoryTaskStore;
  readonly #random;
  readonly #codeMs: (() => number) | undefined;
  /** Bodies that run now, over all processes, and the most there were. */
  running = 0;
  runningMax = 0;

  /** `isRestless`: time passes while code of a process runs, and its timers fire as early as Node's may. */
  constructor({ seed = 1, isRestless = false } = {}) {
    this.#random = createSeededRandom(seed);
    const pauses = createSeededRandom(seed);
    this.#codeMs = isRestless ? () => pauses.fraction() / 2 : undefined;
    this.store = new MemoryTaskStore({
      clock: { now: () => epochMs + this.time.nowMs },
      random: this.#random,
    });
  }

  /** Everything until that instant happens, and what promises make of it. */
  async until(ms: number): Promise<void> {
    await settled();
    await this.time.run(ms);
    await settled();
  }

  /** `wrap` stands between the process and the store. */
  process(name: string, wrap: (store: TaskStore) => TaskStore = (store) => store): CallingProcess {
    const host = new Host(name, {
      time: this.time,
      wallOffsetMs: 0,
      onCrash: () => undefined,
      ...(this.#codeMs === undefined ? {} : { codeMs: this.#codeMs }),
    });
    const asked: string[] = [];
    const lines: CallingProcess["lines"] = [];
    const say = (message: string, fields?: LogFields): void => void lines.push({ message, fields });
    const logger: Logger = { debug: say, info: say, warn: say, error: say };
    const telemetry = recordTelemetry();
    const environment: WorkerEnvironment = {
      store: wrap(this.#remote(host, asked)),
      clock: host.clock,
      timers: host.timers,
      random: this.#random,
      logger,
      telemetry,
      wakeUp: { hint: () => Promise.resolve() },
      workerName: name,
      build: 1,
    };
    const pools = new LimitPools(environment, new Heartbeat(environment));
    const call: CallingProcess["call"] = (limit, { bodyMs = 100, ...options } = {}) =>
      this.#follow(host, (body) => withTokens(pools, { limit, ...options }, body), bodyMs);
    return { host, pools, asked, lines, telemetry, call };
  }

  #remote(host: Host, asked: string[]): TaskStore {
    return new Proxy<TaskStore>(this.store, {
      get: (target, property) => {
        const value: unknown = Reflect.get(target, property, target);
        if (typeof value !== "function") return value;
        return async (...given: unknown[]): Promise<unknown> => {
          asked.push(String(property));
          await this.time.sleep(callMs / 2);
          const answer: unknown = await Reflect.apply(value, target, given);
          await host.sleep(callMs / 2);
          return answer;
        };
      },
    });
  }

  #follow(
    host: Host,
    begin: (
      body: (context: { signal: AbortSignal }) => Promise<void>,
    ) => Promise<WithTokensAnswer<void>>,
    bodyMs: number,
  ): Call {
    const call: Call = {
      beganMs: null,
      endedMs: null,
      wasAborted: false,
      answer: null,
      answeredMs: null,
      error: null,
    };
    const answered = begin(async ({ signal }) => {
      call.beganMs = this.time.nowMs;
      this.running += 1;
      this.runningMax = Math.max(this.runningMax, this.running);
      if (bodyMs > 0) await host.sleep(bodyMs, signal);
      this.running -= 1;
      call.wasAborted = signal.aborted;
      call.endedMs = this.time.nowMs;
    });
    answered.then(
      (answer) => {
        call.answer = answer;
        call.answeredMs = this.time.nowMs;
      },
      (error: unknown) => {
        call.error = error;
      },
    );
    return call;
  }
}
