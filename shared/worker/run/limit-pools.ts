import { InvalidArgumentError } from "../../core/errors";
import { callsDefinition } from "../../core/calls-definition";
import type { WorkerEnvironment } from "../environment";
import { hasRate, leaseOf, listLimits, toShared } from "./call-limits";
import type { CallLimit, CallLimits } from "./call-limits";
import type { Heartbeat } from "./heartbeat";
import { LimitPool } from "./limit-pool";
import type { PoolSurroundings } from "./limit-pool";
import { TokenPoll } from "./token-poll";
import { TurnShare } from "./turn-share";
import { defineQueue } from "../define/define-queue";

/** The tokens of one process, by limit; made once per process by a composition root. */
export class LimitPools {
  readonly #environment: WorkerEnvironment;
  readonly #heartbeat: Heartbeat;
  readonly #poll: TokenPoll;
  readonly #turn: TurnShare;
  /** By name: as the first call gave them. */
  readonly #limits = new Map<string, CallLimit>();
  /** By the name of their definition. */
  readonly #pools = new Map<string, LimitPool>();
  /** Of calls under a rate: each has one of its own. */
  readonly #single = new Set<LimitPool>();
  #isStopping = false;

  constructor(environment: WorkerEnvironment, heartbeat: Heartbeat) {
    this.#environment = environment;
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
    const limits = listLimits(given);
    for (const limit of limits) {
      const known = this.#limits.get(limit.name);
      if (known !== undefined && known !== limit) expectSame(known, limit);
    }
    const name = callsDefinition(limits.map((limit) => limit.name));
    const pool = this.#pools.get(name) ?? this.#open(name, limits);
    if (!hasRate(given)) return pool;
    // A grant is one start of the rate.
    const single = new LimitPool(pool.definition, this.#surroundings());
    this.#single.add(single);
    return single;
  }

  /** The call that `of` was asked for has ended, or was denied. */
  async leave(pool: LimitPool): Promise<void> {
    if (!this.#single.has(pool)) return;
    await pool.stop();
    this.#single.delete(pool);
  }

  /** Denies waiting calls, tells bodies to stop, and gives back what no body runs on; later calls are denied as `stopping`. Never throws. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all([...this.#pools.values(), ...this.#single].map((pool) => pool.stop()));
  }

  #open(name: string, limits: readonly CallLimit[]): LimitPool {
    const [first] = limits;
    const rate = first?.rate;
    const leaseMs = leaseOf(limits);
    const definition = defineQueue({
      name,
      limit: null,
      within: limits.map(toShared),
      ...(rate === undefined ? {} : { rate }),
      ...(leaseMs === undefined ? {} : { leaseMs }),
    });
    const pool = new LimitPool(definition, this.#surroundings());
    if (this.#isStopping) void pool.stop();
    this.#pools.set(name, pool);
    for (const limit of limits)
      if (!this.#limits.has(limit.name)) this.#limits.set(limit.name, limit);
    return pool;
  }

  /** Gives back what other pools of this process hold idle of the limits of one that was denied. Did any hold some? */
  async #freeOthers(pool: LimitPool): Promise<boolean> {
    const wanted = new Set(namesOf(pool));
    const others = [...this.#pools.values()].filter(
      (other) => other !== pool && other.isIdle && namesOf(other).some((name) => wanted.has(name)),
    );
    await Promise.all(others.map((other) => other.giveIdle()));
    return others.length > 0;
  }

  #surroundings(): PoolSurroundings {
    return {
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

function expectSame(known: CallLimit, given: CallLimit): void {
  for (const field of ["limit", "rate", "leaseMs"] as const) {
    const [first = "none", second = "none"] = [known, given].map((limit) =>
      limit[field] === undefined ? "none" : JSON.stringify(limit[field]),
    );
    if (first === second) continue;
    throw new InvalidArgumentError(
      `${field}: expected ${first} (${second}), as this process uses limit ${given.name} with it already: define the limit once and import it`,
      { details: { field } },
    );
  }
}
