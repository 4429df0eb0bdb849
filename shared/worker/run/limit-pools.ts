import { callsDefinition } from "../../core/calls-definition";
import type { WorkerEnvironment } from "../environment";
import { hasRate, leaseOf, listLimits, toShared } from "./call-limits";
import type { CallLimit, CallLimits } from "./call-limits";
import type { Heartbeat } from "./heartbeat";
import { KnownLimits } from "./known-limits";
import { LimitPool } from "./limit-pool";
import type { PoolSurroundings } from "./limit-pool";
import { ReturnSlots } from "./return-slots";
import { TokenPoll } from "./token-poll";
import { TurnShare } from "./turn-share";
import { toDefinition } from "../define/define-queue";
import type { Definition } from "../define/task-kind";

/** The most that a call under a rate waits, after its end, for its tokens to be back. */
const leaveMs = 250;

/** The pool of one limit, or of several together, with what the limits say. */
interface OpenedPool {
  readonly pool: LimitPool;
  limits: readonly CallLimit[];
  readonly returns: ReturnSlots;
}

/** The tokens of one process, by limit; made once per process by a composition root. */
export class LimitPools {
  readonly #environment: WorkerEnvironment;
  readonly #heartbeat: Heartbeat;
  readonly #poll: TokenPoll;
  readonly #turn: TurnShare;
  readonly #known: KnownLimits;
  /** By the name of their definition, with the limits that it says. */
  readonly #pools = new Map<string, OpenedPool>();
  /** Of calls under a rate: each has one of its own. */
  readonly #single = new Set<LimitPool>();
  #isStopping = false;

  /** `known`: what the app's functions have said of their limits while it was loaded. */
  constructor(
    environment: WorkerEnvironment,
    heartbeat: Heartbeat,
    known: KnownLimits = new KnownLimits(),
  ) {
    this.#environment = environment;
    this.#known = known;
    this.#heartbeat = heartbeat;
    this.#poll = new TokenPoll(environment);
    this.#turn = new TurnShare(environment.timers);
  }

  /**
   * The pool of that limit, or of several together: its tokens are granted by all of them in one decision, or by none. `leave`
   * ends its use by one call. Throws InvalidArgumentError for what `listLimits` refuses, and when this process uses a name with
   * another number, rate or lease.
   */
  of(given: CallLimits): LimitPool {
    const limits = listLimits(given).map((limit) => this.#known.note(limit));
    const name = callsDefinition(limits.map((limit) => limit.name));
    const opened = this.#pools.get(name) ?? this.#open(name, limits);
    const { pool, returns } = opened;
    if (opened.limits.some((limit, index) => limit !== limits[index])) {
      // A place has said a number that was left out so far.
      opened.limits = limits;
      pool.definition = definitionOf(name, limits);
    }
    if (!hasRate(given)) return pool;
    // A grant is one start of the rate.
    const waitingBeside = (): number =>
      [...this.#single].filter(({ definition, waiting }) => definition.name === name && waiting > 0)
        .length;
    const single = new LimitPool(pool.definition, this.#surroundings(returns, waitingBeside));
    this.#single.add(single);
    return single;
  }

  /**
   * The call that `of` was asked for has ended, or was denied. Resolves when its tokens are back, so that the next call finds them,
   * but soon where the database is silent: the rest goes on behind. Never throws.
   */
  async leave(pool: LimitPool): Promise<void> {
    if (!this.#single.has(pool)) return;
    await new Promise<void>((resolve) => {
      const cancel = this.#environment.timers.after(leaveMs, resolve);
      void pool.stop().then(() => {
        this.#single.delete(pool);
        cancel();
        resolve();
      });
    });
  }

  /** Denies waiting calls, tells bodies to stop, and gives back what no body runs on; later calls are denied as `stopping`. Never throws. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all([...this.#all(), ...this.#single].map((pool) => pool.stop()));
  }

  #open(name: string, limits: readonly CallLimit[]): OpenedPool {
    const returns = new ReturnSlots();
    const pool = new LimitPool(
      definitionOf(name, limits),
      this.#surroundings(returns, () => 0),
    );
    if (this.#isStopping) void pool.stop();
    const opened = { pool, limits, returns };
    this.#pools.set(name, opened);
    return opened;
  }

  #all(): LimitPool[] {
    return [...this.#pools.values()].map(({ pool }) => pool);
  }

  /** Gives back what other pools of this process hold idle of the limits of one that was denied. Did any hold some? */
  async #freeOthers(pool: LimitPool): Promise<boolean> {
    const wanted = new Set(namesOf(pool));
    const others = this.#all().filter(
      (other) => other !== pool && other.isIdle && namesOf(other).some((name) => wanted.has(name)),
    );
    await Promise.all(others.map((other) => other.giveIdle()));
    return others.length > 0;
  }

  #surroundings(returns: ReturnSlots, waitingBeside: () => number): PoolSurroundings {
    return {
      returns,
      waitingBeside,
      environment: this.#environment,
      turn: this.#turn,
      freeOthers: (pool) => this.#freeOthers(pool),
      keep: (lease) => {
        const ends = [this.#heartbeat.add(lease), this.#poll.add(lease)];
        return () => {
          for (const end of ends) end();
        };
      },
    };
  }
}

function namesOf({ definition }: LimitPool): string[] {
  return (definition.settings.sharedLimits ?? []).map(({ name }) => name);
}

function definitionOf(name: string, limits: readonly CallLimit[]): Definition {
  const rate = limits[0]?.rate;
  const leaseMs = leaseOf(limits);
  return toDefinition({
    name,
    limit: null,
    within: limits.map(toShared),
    ...(rate === undefined ? {} : { rate }),
    ...(leaseMs === undefined ? {} : { leaseMs }),
  });
}
