import type { ColumnInfo, SqlValue } from "../values";
import type {
  EngineEvents,
  EngineMessage,
  EngineRequest,
  EngineServer,
  EngineSession,
  RequestOutcome,
} from "./engine-port";

/**
 * An engine without SQL: a test sets the answers. It shows how the driver takes what the endpoint sends, without
 * anything of the simulated database in between.
 */

type EngineLogin = Parameters<EngineServer["connect"]>[0];

/** A request that a script answers; transactions answer themselves. */
export type ScriptedRequest = Exclude<EngineRequest, { kind: "transaction" }>;

/** What a script has in hand. */
export interface ScriptedCall {
  request: ScriptedRequest;
  /** The text of a batch or a statement, the name of a procedure. */
  text: string;
  events: EngineEvents;
  session: ScriptedSession;
  /** Resolves when the client gives the request up. */
  cancelled: Promise<void>;
}

/** What a script answers besides its events. */
export type Script = (
  call: ScriptedCall,
) => Partial<RequestOutcome> | undefined | Promise<Partial<RequestOutcome> | undefined>;

/** What the driver sends by itself when it has logged in: answered here, not by the script of requests. */
const settings = /^\s*set /i;
/** What the pool sends before it lends a connection, where it is told to. */
const validation = "SELECT 1;";

export class ScriptedEngine implements EngineServer {
  readonly sessions: ScriptedSession[] = [];
  /** Everything that came, in order, with what the driver sends by itself. */
  readonly requests: EngineRequest[] = [];
  script: Script;
  /** The content of the answer to the settings of a login. */
  settingsMessage: EngineMessage | undefined;

  constructor(script: Script = () => undefined) {
    this.script = script;
  }

  connect(login: EngineLogin): ScriptedSession {
    const session = new ScriptedSession(this, 51 + this.sessions.length, login);
    this.sessions.push(session);
    return session;
  }
}

/** One connection; what became of it can be read. */
export class ScriptedSession implements EngineSession {
  readonly sessionId: number;
  readonly login: EngineLogin;
  readonly resets: boolean[] = [];
  /** Levels that transactions began with. */
  readonly levels: number[] = [];
  isClosed = false;
  /** 0n: none is open. */
  transactionId = 0n;
  readonly #engine: ScriptedEngine;
  #cancel: (() => void) | null = null;
  #transactionCount = 0n;

  constructor(engine: ScriptedEngine, sessionId: number, login: ScriptedSession["login"]) {
    this.#engine = engine;
    this.sessionId = sessionId;
    this.login = login;
  }

  async run(request: EngineRequest, events: EngineEvents): Promise<RequestOutcome> {
    this.#engine.requests.push(request);
    if (request.kind === "transaction") return this.#runTransaction(request, events);
    const text = request.kind === "procedure" ? request.name : request.sql;
    if (request.kind === "batch" && settings.test(text)) {
      const message = this.#engine.settingsMessage;
      if (message !== undefined) events.message(message);
      return outcome({ isFailed: message !== undefined });
    }
    if (text === validation) {
      answerRows(events, [{ name: "", type: { name: "int" }, isNullable: false }], [[1]]);
      return outcome({ returnStatus: 0 });
    }
    let isCancelled = false;
    const cancelled = new Promise<void>((resolve) => {
      this.#cancel = () => {
        isCancelled = true;
        resolve();
      };
    });
    const call = { request, text, events, session: this, cancelled };
    const answer = await this.#engine.script(call);
    this.#cancel = null;
    return outcome({ isCancelled, ...answer });
  }

  cancel(): void {
    this.#cancel?.();
  }

  close(): void {
    this.isClosed = true;
    this.#cancel?.();
  }

  reset(keepsTransaction: boolean): void {
    this.resets.push(keepsTransaction);
    if (!keepsTransaction) this.transactionId = 0n;
  }

  /** Ends the transaction as a server does of its own accord, and says so. */
  rollBack(events: EngineEvents): void {
    const id = this.transactionId;
    this.transactionId = 0n;
    if (id !== 0n) events.rolledBack(id);
  }

  #runTransaction(
    request: Extract<EngineRequest, { kind: "transaction" }>,
    events: EngineEvents,
  ): RequestOutcome {
    if (request.action === "begin") {
      this.levels.push(request.level);
      this.#transactionCount += 1n;
      this.transactionId = (BigInt(this.sessionId) << 32n) + this.#transactionCount;
      events.began(this.transactionId);
      return outcome({});
    }
    const id = this.transactionId;
    if (id === 0n) {
      const number = request.action === "commit" ? 3902 : 3903;
      events.message(errorOf(number, "The request has no corresponding BEGIN TRANSACTION."));
      return outcome({ isFailed: true });
    }
    this.transactionId = 0n;
    if (request.action === "commit") events.committed(id);
    else events.rolledBack(id);
    return outcome({});
  }
}

/** A row set with its count. */
export function answerRows(
  events: EngineEvents,
  columns: ColumnInfo[],
  rows: readonly SqlValue[][],
): void {
  events.columns(columns);
  for (const row of rows) events.row(row);
  events.endRows(rows.length);
}

/** A nullable column of type int. */
export function intColumn(name: string): ColumnInfo {
  return { name, type: { name: "int" }, isNullable: true };
}

/** An error as a procedure raises it. */
export function errorOf(number: number, text: string): EngineMessage {
  return { number, state: 3, class: 16, text, procedure: "App.Work", line: 42 };
}

function outcome(parts: Partial<RequestOutcome>): RequestOutcome {
  return { returnStatus: undefined, outputs: [], isFailed: false, isCancelled: false, ...parts };
}
