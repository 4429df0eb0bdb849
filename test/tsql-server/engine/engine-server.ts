import {
  cancelRequest,
  closeConnection,
  readyConnections,
  startRequest,
  step,
  timeIsUp,
} from "../schedule/step";
import type {
  EngineEvents,
  EngineRequest,
  EngineServer,
  EngineSession,
  RequestOutcome,
  Welcome,
} from "../tds/engine-port";
import type { Answer } from "./answer";
import type { Connection } from "./connection";
import { loginSettings } from "./connection";
import { endTransaction } from "./errors";
import { SeededRandom } from "./random";
import { SimulationError } from "./sql-error";
import type { World } from "./world";

export interface EngineServerOptions {
  /** Picks who steps next by chance; without it the one that came first runs on. */
  readonly seed?: number;
  /** Steps until the event loop gets a turn, so that calls which arrive later meet those that run. Default: all. */
  readonly stepsPerTurn?: number;
  /** LOCK_TIMEOUT is over as soon as no other can move, instead of after its time. */
  readonly endsTimeoutsAtOnce?: boolean;
}

/** The engine for those who speak in promises: one scheduler for all sessions of a world. */
export class SimulatedEngine implements EngineServer {
  readonly world: World;
  readonly #options: EngineServerOptions;
  readonly #random: SeededRandom | undefined;
  readonly #timers = new Map<Connection, NodeJS.Timeout>();
  #isScheduled = false;
  /** A fault of the simulation: told to the next asker. */
  #fault: unknown;
  readonly #sessions = new Map<Connection, SimulatedSession>();

  constructor(world: World, options: EngineServerOptions = {}) {
    this.world = world;
    this.#options = options;
    this.#random = options.seed === undefined ? undefined : new SeededRandom(options.seed);
  }

  connect(login: { database: string; user: string; application: string }): EngineSession {
    const connection = this.world.connect();
    connection.login = login.user;
    connection.user = this.world.catalog.security.userOf(login.user)?.name ?? "dbo";
    const session = new SimulatedSession(connection, {
      wake: () => {
        this.#schedule();
      },
      forget: () => {
        this.#stopTimer(connection);
        this.#sessions.delete(connection);
      },
    });
    this.#sessions.set(connection, session);
    return session;
  }

  /** Logins with a password, and contained users: CREATE LOGIN, CREATE USER .. WITH PASSWORD. */
  welcomes(asked: { user: string; password: string }): Welcome {
    const { security } = this.world.catalog;
    const user = security.userOf(asked.user);
    const password = security.findLogin(asked.user)?.password ?? user?.password;
    if (password === undefined || password !== asked.password) return "unknown";
    return user === undefined ? "homeless" : "welcome";
  }

  /** Later, not now: calls that arrive in the same turn meet each other. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#pump();
    });
  }

  #pump(): void {
    const most = this.#options.stepsPerTurn ?? Number.POSITIVE_INFINITY;
    for (let steps = 0; steps < most; steps += 1) {
      const connection = this.#pick();
      if (connection === undefined) {
        this.#watchTimeouts();
        if (!this.#endTimeout()) return;
        continue;
      }
      this.#step(connection);
    }
    this.#schedule();
  }

  #step(connection: Connection): void {
    try {
      step(connection);
    } catch (error) {
      this.#fault = error;
      this.#sessions.get(connection)?.fail(this.#fault);
    }
  }

  #pick(): Connection | undefined {
    const ready = readyConnections(this.world);
    return this.#random === undefined
      ? ready[0]
      : ready[this.#random.below(Math.max(1, ready.length))];
  }

  // ---- LOCK_TIMEOUT (L23)

  /** The waiter whose time is up first, when tests want no real time to pass. */
  #endTimeout(): boolean {
    if (this.#options.endsTimeoutsAtOnce !== true) return false;
    const limited = this.world.connections.filter(
      (connection) => connection.state === "waiting" && connection.settings.lockTimeoutMs >= 0,
    );
    limited.sort((left, right) => left.settings.lockTimeoutMs - right.settings.lockTimeoutMs);
    const [first] = limited;
    if (first !== undefined) timeIsUp(first);
    return first !== undefined;
  }

  #watchTimeouts(): void {
    for (const connection of this.world.connections) {
      const isLimited = connection.state === "waiting" && connection.settings.lockTimeoutMs >= 0;
      if (!isLimited) this.#stopTimer(connection);
      else if (!this.#timers.has(connection) && this.#options.endsTimeoutsAtOnce !== true)
        this.#startTimer(connection);
    }
  }

  #startTimer(connection: Connection): void {
    const { waits } = connection;
    const timer = setTimeout(() => {
      this.#timers.delete(connection);
      // The same wait still: then it has lasted long enough.
      if (connection.state === "waiting" && connection.waits === waits) timeIsUp(connection);
      this.#schedule();
    }, connection.settings.lockTimeoutMs);
    timer.unref();
    this.#timers.set(connection, timer);
  }

  #stopTimer(connection: Connection): void {
    clearTimeout(this.#timers.get(connection));
    this.#timers.delete(connection);
  }
}

interface SessionHooks {
  readonly wake: () => void;
  readonly forget: () => void;
}

class SimulatedSession implements EngineSession {
  readonly #connection: Connection;
  readonly #hooks: SessionHooks;
  #reject: ((fault: unknown) => void) | undefined;
  #resolve: ((outcome: RequestOutcome) => void) | undefined;
  #isClosed = false;

  constructor(connection: Connection, hooks: SessionHooks) {
    this.#connection = connection;
    this.#hooks = hooks;
  }

  get sessionId(): number {
    return this.#connection.id;
  }

  run(request: EngineRequest, events: EngineEvents): Promise<RequestOutcome> {
    return new Promise((resolve, reject) => {
      const answer = new EventAnswer(events);
      this.#resolve = resolve;
      this.#reject = reject;
      try {
        startRequest(this.#connection, request, answer, (result) => {
          this.#reject = undefined;
          resolve({ ...result, isFailed: answer.hasFailed });
        });
      } catch (fault) {
        this.fail(fault);
      }
      this.#hooks.wake();
    });
  }

  /** The simulation itself has failed: not an answer. */
  fail(fault: unknown): void {
    this.#reject?.(fault);
    this.#reject = undefined;
  }

  cancel(): void {
    cancelRequest(this.#connection);
    this.#hooks.wake();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    closeConnection(this.#connection);
    this.#resolve?.({ returnStatus: undefined, outputs: [], isFailed: false, isCancelled: true });
    this.#hooks.forget();
    this.#hooks.wake();
  }

  reset(keepsTransaction: boolean): void {
    const connection = this.#connection;
    if (connection.contexts.length > 0) {
      throw new SimulationError(
        "A connection is reset under EXECUTE AS: a server drops it (error 18059). REVERT comes first",
      );
    }
    connection.answer = undefined;
    if (!keepsTransaction) {
      connection.appLocks.clear();
      endTransaction(connection);
    }
    connection.settings = { ...loginSettings };
    connection.identityInsert = undefined;
    this.#hooks.wake();
  }
}

/** Tells an endpoint's events in the order of the engine's. */
class EventAnswer implements Answer {
  readonly #events: EngineEvents;
  hasFailed = false;

  constructor(events: EngineEvents) {
    this.#events = events;
  }

  columns(...args: Parameters<Answer["columns"]>): void {
    this.#events.columns(...args);
  }

  row(...args: Parameters<Answer["row"]>): void {
    this.#events.row(...args);
  }

  endRows(count: number | undefined): void {
    this.#events.endRows(count);
  }

  count(rows: number): void {
    this.#events.count(rows);
  }

  error(error: Parameters<Answer["error"]>[0]): void {
    this.hasFailed = true;
    const { number, state, message, procedure, line } = error;
    this.#events.message({ number, state, class: error.class, text: message, procedure, line });
  }

  information(message: Parameters<Answer["information"]>[0]): void {
    this.#events.message({ ...message, procedure: "", line: 0 });
  }

  began(id: number): void {
    this.#events.began(BigInt(id));
  }

  committed(id: number): void {
    this.#events.committed(BigInt(id));
  }

  rolledBack(id: number): void {
    this.#events.rolledBack(BigInt(id));
  }
}
