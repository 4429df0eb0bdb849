import { LeaseLostError } from "../core/errors";
import type { ExecutionId, Fence, TaskId } from "../core/ids";
import { LeaseTrust } from "../core/lease";
import type { Instants } from "../core/lease";
import type { HeartbeatAnswer, StartExecutionAnswer } from "../ports/task-store";
import { defineDefinition } from "./define-task";
import type { Definition, DefinitionOptions } from "./define-task";
import type { WorkerEnvironment } from "./environment";
import { instants } from "./environment";
import { renewByKeeper } from "./kept-lease";
import type { Beating, Heartbeat } from "./heartbeat";
import type { Registry } from "./registry";
import { register, startExecution } from "./register";
import { reclaim } from "./run-worker";

/** What `withTokens` needs; made by a composition root. */
export interface TokenEnvironment {
  readonly environment: WorkerEnvironment;
  readonly heartbeat: Heartbeat;
  /** Tells the kinds that draw from the same limit, whose rules are part of what the database compares. */
  readonly registry?: Registry;
}

/** The limit, and how much of it this call needs. Other settings as for a definition. */
export interface WithTokensOptions extends Omit<DefinitionOptions, "name"> {
  /** Tokens this call runs on; 1..1000, default 1. All of them, or `limited`. */
  want?: number;
  /** Ends the wait of the caller's own; handed on to the body's signal. */
  signal?: AbortSignal;
}

/** What the body gets. */
export interface TokenContext {
  /** Aborted when the lease is lost or the caller's signal is. */
  readonly signal: AbortSignal;
  readonly tokens: number;
  /** Grows with every grant of this name: hand it to systems that can fence. */
  readonly fence: Fence | null;
}

/** `limited` and `paused` are answers, not errors: give the message back and come again after `retryInMs`. */
export type WithTokensAnswer<Result> =
  | { readonly status: "ran"; readonly value: Result }
  | { readonly status: "limited" | "paused"; readonly retryInMs: number };

/** Asked for when the database can't say better: no holder's lease is known, or the definition is paused. */
const retryFallbackMs = 5_000;
/** A denied caller comes back within this time even if all leases are longer: tokens usually come back early. */
const retryMostMs = 30_000;

/** The registry's definition of that name, if its settings are the same. */
function knownDefinition({ registry }: TokenEnvironment, own: Definition): Definition {
  const known = registry?.definition(own.name) ?? null;
  const isSame = known !== null && JSON.stringify(known.settings) === JSON.stringify(own.settings);
  return isSame ? known : own;
}

/**
 * Runs `body` on tokens of the limit `name`, or answers `limited`: the cap per function over all instances and apps
 * that share the database. Same row, same fairness, same re-grant as tasks. The tokens are held until `body` has
 * settled, also when it throws; then they come back. What the body throws is thrown.
 */
export async function withTokens<Result>(
  tokens: TokenEnvironment,
  limit: WithTokensOptions & { name: string },
  body: (context: TokenContext) => Promise<Result>,
): Promise<WithTokensAnswer<Result>> {
  const { environment } = tokens;
  const { want = 1, signal, ...options } = limit;
  const definition = knownDefinition(tokens, defineDefinition(options));
  const sentAt = instants(environment.clock);
  const started = await startExecution(environment, { definition, want, needsReady: false }, () =>
    register(environment, definition),
  );
  if (started.deadHolders > 0) await reclaim(environment);
  const { executionId } = started;
  if (started.status !== "started" || executionId === null) {
    const retryInMs = Math.min(started.retryInMs ?? retryFallbackMs, retryMostMs);
    return { status: started.status === "paused" ? "paused" : "limited", retryInMs };
  }
  if (started.tokens < want) {
    await environment.store.finishExecution({ executionId });
    return { status: "limited", retryInMs: 1_000 };
  }
  const holding = new Holding(environment, {
    executionId,
    sentAt,
    leaseMs: started.leaseMs ?? definition.settings.leaseMs,
  });
  const stopBeating = tokens.heartbeat.add(holding);
  try {
    return { status: "ran", value: await body(holding.context(started, signal)) };
  } finally {
    stopBeating();
    holding.end();
    await environment.store.finishExecution({ executionId }).catch((error: unknown) => {
      environment.logger.error(
        "tokens could not be given back; they come back when the lease ends",
        {
          execution: executionId,
          error: error instanceof Error ? error.message : String(error),
        },
      );
    });
  }
}

/** Tokens in use: keeps the lease, and tells the body when it can't be trusted any more. */
class Holding implements Beating {
  readonly executionId: ExecutionId;
  readonly #environment: WorkerEnvironment;
  readonly #trust = new LeaseTrust();
  readonly #controller = new AbortController();
  #renewedAtMs: number;
  #cancelWatch: (() => void) | null = null;

  constructor(
    environment: WorkerEnvironment,
    grant: { executionId: ExecutionId; sentAt: Instants; leaseMs: number },
  ) {
    this.#environment = environment;
    this.executionId = grant.executionId;
    this.#renewedAtMs = grant.sentAt.monotonicMs;
    this.#trust.renew(grant.sentAt, grant.leaseMs);
    this.#watch();
  }

  get leaseMs(): number {
    return this.#trust.leaseMs;
  }

  /** A body may take as long as it likes. */
  readonly timeoutMs = null;

  context(started: StartExecutionAnswer, signal: AbortSignal | undefined): TokenContext {
    const own = this.#controller.signal;
    return {
      signal: signal === undefined ? own : AbortSignal.any([own, signal]),
      tokens: started.tokens,
      fence: started.tokenFence,
    };
  }

  renewedAgoMs(): number {
    return this.#environment.clock.monotonicMs() - this.#renewedAtMs;
  }

  takeStarted(): TaskId[] {
    return [];
  }

  returnStarted(): void {
    // Tokens alone have no tasks.
  }

  onBeat(answer: HeartbeatAnswer["executions"][number], sentAt: Instants): void {
    if (answer.status === "fenced" || answer.status === "ended") {
      this.#lose("the tokens were given to somebody else: stop, write nothing");
      return;
    }
    if (answer.leaseMs === null) return;
    this.#trust.renew(sentAt, answer.leaseMs);
    this.#renewedAtMs = sentAt.monotonicMs;
  }

  end(): void {
    this.#cancelWatch?.();
  }

  #watch(): void {
    renewByKeeper(this.#environment, this.executionId, this.#trust);
    const leftMs = this.#trust.leftMs(instants(this.#environment.clock));
    if (leftMs <= 0) {
      this.#lose("the lease of the tokens could not be renewed in time: stop, write nothing");
      return;
    }
    this.#cancelWatch = this.#environment.timers.after(Math.min(leftMs + 1, 1_000), () => {
      this.#watch();
    });
  }

  #lose(message: string): void {
    this.#trust.lose();
    this.#cancelWatch?.();
    this.#controller.abort(new LeaseLostError(message));
  }
}
