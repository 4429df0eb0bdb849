import type { Answer } from "./answer";
import { ProtocolError } from "./bytes";
import type { EngineEvents, EngineRequest, EngineSession, RequestOutcome } from "./engine-port";
import type { ServerError } from "./faults";
import type { ClientRequest } from "./requests";

/** One connection's way to the engine: its events become tokens. Nothing else of the endpoint knows the engine. */
export class EngineConnection {
  readonly #session: EngineSession;
  /** The transaction that the client was told of last; 0n: none. */
  #transactionId = 0n;

  constructor(session: EngineSession) {
    this.#session = session;
  }

  /** Runs a request and writes its whole answer. Throws for a fault of the engine or of the protocol. */
  async run(asked: ClientRequest, answer: Answer): Promise<void> {
    // A server refuses it, too (3989): client and server would disagree on the commit.
    if (asked.transactionId !== this.#transactionId) {
      throw new ProtocolError(
        `The client believes to be in transaction ${asked.transactionId}, the server in ${this.#transactionId} (0: none)`,
      );
    }
    const outcome = await this.#session.run(asked.request, this.#eventsOf(answer));
    checkOutcome(outcome, answer);
    if (outcome.returnStatus !== undefined) answer.returnStatus(outcome.returnStatus);
    for (const output of outcome.outputs) {
      answer.returnValue({ ...output, ordinal: ordinalOf(asked.request, output.name) });
    }
    answer.end({ isFailed: outcome.isFailed || outcome.isCancelled });
  }

  /** Answers with an error of the server instead of running a request. */
  async fail(error: ServerError, answer: Answer): Promise<void> {
    answer.message(error.message);
    if (error.endsTransaction && this.#transactionId !== 0n) {
      const { rolledBack } = this.#eventsOf(answer);
      const rollback = { kind: "transaction", action: "rollback", level: 0 } as const;
      await this.#session.run(rollback, { ...silentEvents, rolledBack });
    }
    answer.end({ isFailed: true });
  }

  /** The reset flag of a request: it comes before the request and is told in its answer. */
  reset(keepsTransaction: boolean, answer: Answer): void {
    this.#session.reset(keepsTransaction);
    if (!keepsTransaction && this.#transactionId !== 0n) {
      answer.rolledBack(this.#transactionId);
      this.#transactionId = 0n;
    }
    answer.wasReset();
  }

  cancel(): void {
    this.#session.cancel();
  }

  close(): void {
    this.#session.close();
  }

  #eventsOf(answer: Answer): EngineEvents {
    return {
      columns: (columns) => {
        answer.columns(columns);
      },
      row: (values) => {
        answer.row(values);
      },
      endRows: (count) => {
        answer.endRows(count);
      },
      count: (rows) => {
        answer.count(rows);
      },
      message: (message) => {
        answer.message(message);
      },
      began: (id) => {
        if (this.#transactionId !== 0n) throw new ProtocolError("A transaction begins in another");
        this.#transactionId = id;
        answer.began(id);
      },
      committed: (id) => {
        this.#leave(id);
        answer.committed(id);
      },
      rolledBack: (id) => {
        this.#leave(id);
        answer.rolledBack(id);
      },
    };
  }

  #leave(id: bigint): void {
    if (id === 0n || this.#transactionId !== id) {
      throw new ProtocolError(
        `Transaction ${id} ends, but the last one told is ${this.#transactionId} (0: none)`,
      );
    }
    this.#transactionId = 0n;
  }
}

/** For what the endpoint itself asks of the engine. */
const silentEvents: EngineEvents = {
  columns: () => undefined,
  row: () => undefined,
  endRows: () => undefined,
  count: () => undefined,
  message: () => undefined,
  began: () => undefined,
  committed: () => undefined,
  rolledBack: () => undefined,
};

function checkOutcome(outcome: RequestOutcome, answer: Answer): void {
  if (outcome.isCancelled || outcome.isFailed === answer.hasError) return;
  throw new ProtocolError(
    outcome.isFailed
      ? "The engine says that a request failed, and told no error"
      : "The engine told an error, and says that the request succeeded",
  );
}

/** Place of a parameter in its call; the two of sp_executesql itself count. */
function ordinalOf(request: EngineRequest, name: string): number {
  if (request.kind !== "procedure" && request.kind !== "statement") return 0;
  const own = request.kind === "statement" ? 2 : 0;
  const lower = name.toLowerCase();
  return own + request.arguments.findIndex((argument) => argument.name.toLowerCase() === lower);
}
