import { CollectedAnswer } from "../../tsql-server/engine/answer";
import type { Connection } from "../../tsql-server/engine/connection";
import type { World } from "../../tsql-server/engine/world";
import {
  closeConnection,
  readyConnections,
  startRequest,
  step,
  timeIsUp,
  waitingConnections,
} from "../../tsql-server/schedule/step";
import type { EngineRequest } from "../../tsql-server/tds/engine-port";

export interface LocalServerOptions {
  /** Steps that all requests together may take, and statements that they may run: a loop may take no step at all. */
  readonly stepsMax: number;
  readonly statementsMax: number;
  /** The client that takes the next step, of so many; always the first one where it is missing. */
  readonly pick?: (count: number) => number;
  /** Told of each connection whose request has ended. */
  readonly onAnswered?: (connection: Connection) => void;
}

/** Requests of many clients on one world, in this process: a request is steps, and a ready client takes one. */
export class LocalServer {
  readonly world: World;
  readonly #options: LocalServerOptions;
  readonly #pending = new Map<Connection, Pending>();
  /** Closed after a fault. */
  readonly #broken = new Set<Connection>();
  #steps = 0;
  #isDue = false;
  #watch: NodeJS.Timeout | undefined;
  #stepsAtLook = 0;
  #quietLooks = 0;
  /** What must not pass for an answer: the model or the text under test is at fault. The first one counts. */
  fault: Error | undefined;

  constructor(world: World, options: LocalServerOptions) {
    this.world = world;
    this.#options = options;
    world.statementsLeft = options.statementsMax;
  }

  get steps(): number {
    return this.#steps;
  }

  get statements(): number {
    return this.#options.statementsMax - this.world.statementsLeft;
  }

  connect(): Connection {
    return this.world.connect();
  }

  isBroken(connection: Connection): boolean {
    return this.#broken.has(connection);
  }

  /** Runs a request to its end; errors of T-SQL are in the answer. Rejects with a fault. */
  run(connection: Connection, request: EngineRequest): Promise<CollectedAnswer> {
    if (this.#broken.has(connection)) {
      return Promise.reject(this.fault ?? new Error("The connection is closed"));
    }
    return new Promise((resolve, reject) => {
      const answer = new CollectedAnswer();
      this.#pending.set(connection, { resolve, reject, answer });
      this.#guard(connection, () => {
        startRequest(connection, request, answer);
      });
      this.#pumpSoon();
    });
  }

  /** Ends everything that is still under way. */
  close(): void {
    clearTimeout(this.#watch);
    for (const connection of this.world.connections) closeConnection(connection);
    this.#pending.clear();
  }

  /** With someone to pick from: after all that is ready to be asked has been asked, so that calls meet. */
  #pumpSoon(): void {
    if (this.#options.pick === undefined) this.#pump();
    else if (!this.#isDue) {
      this.#isDue = true;
      setImmediate(() => {
        this.#isDue = false;
        this.#pump();
      });
    }
  }

  #pump(): void {
    this.#settleIdle();
    for (let ready = readyConnections(this.world); ready.length > 0;) {
      const next = ready[this.#options.pick?.(ready.length) ?? 0];
      if (next === undefined) throw new Error("A connection was picked that isn't there");
      this.#guard(next, () => {
        this.#count();
        step(next);
      });
      this.#settleIdle();
      ready = readyConnections(this.world);
    }
    if (waitingConnections(this.world).length > 0) this.#lookLater();
  }

  #count(): void {
    this.#steps += 1;
    if (this.#steps > this.#options.stepsMax) {
      throw new BudgetError(`More than ${this.#options.stepsMax} steps`);
    }
  }

  /** Those whose request has ended get their answer. */
  #settleIdle(): void {
    for (const [connection, { resolve, answer }] of this.#pending) {
      if (connection.state !== "idle") continue;
      this.#pending.delete(connection);
      this.#options.onAnswered?.(connection);
      resolve(answer);
    }
  }

  /** A fault ends the request it was met in. */
  #guard(connection: Connection, act: () => void): void {
    try {
      act();
    } catch (error) {
      if (this.world.statementsLeft < 0) {
        this.#fail(
          connection,
          new BudgetError(`More than ${this.#options.statementsMax} statements`),
        );
        return;
      }
      this.#fail(connection, error instanceof Error ? error : new Error(String(error)));
    }
  }

  #fail(connection: Connection, fault: Error): void {
    this.fault ??= fault;
    const pending = this.#pending.get(connection);
    this.#pending.delete(connection);
    this.#broken.add(connection);
    closeConnection(connection);
    pending?.reject(fault);
  }

  // ---- waiting

  /** A client waits: for a lock that a client may still release, for its time-out, or for ever. */
  #lookLater(): void {
    clearTimeout(this.#watch);
    this.#stepsAtLook = this.#steps;
    this.#quietLooks = 0;
    this.#look();
  }

  #look(): void {
    this.#watch = setTimeout(() => {
      const waiting = waitingConnections(this.world);
      if (waiting.length === 0) return;
      this.#quietLooks = this.#steps === this.#stepsAtLook ? this.#quietLooks + 1 : 0;
      this.#stepsAtLook = this.#steps;
      if (this.#quietLooks >= quietLooksMax) this.#endWait(waiting);
      else this.#look();
    }, lookMs);
  }

  /** No client has moved for a while, so none will: the time of the first waiter is up. */
  #endWait(waiting: readonly Connection[]): void {
    const limited = waiting.find(({ settings }) => settings.lockTimeoutMs >= 0);
    if (limited !== undefined) timeIsUp(limited);
    else for (const connection of waiting) this.#fail(connection, new EndlessWaitError(connection));
    this.#pump();
  }
}

interface Pending {
  readonly resolve: (answer: CollectedAnswer) => void;
  readonly reject: (fault: Error) => void;
  readonly answer: CollectedAnswer;
}

/** So often in a row nothing must have happened, at looks so far apart, until time-outs pass. */
const quietLooksMax = 8;
const lookMs = 3;

/** A loop without end, most likely. */
export class BudgetError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "BudgetError";
  }
}

/** No client is left that could release the lock. */
export class EndlessWaitError extends Error {
  constructor(connection: Connection) {
    const wait = connection.world.locks.waitOf(connection.id);
    const { moduleName, line } = connection.place;
    super(`${moduleName}:${line} waits for ever for ${wait?.mode ?? ""} ${wait?.resource ?? ""}`);
    this.name = "EndlessWaitError";
  }
}
