import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { Answer } from "./answer";
import type { AnswerKind } from "./answer";
import { ProtocolError } from "./bytes";
import { EngineConnection } from "./engine-connection";
import type { EngineMessage, EngineRequest, EngineServer } from "./engine-port";
import type { Fault, FaultPoint, FaultSource, Manner } from "./faults";
import { encryptions, preloginAnswer, readLogin, readPreloginEncryption } from "./login";
import type { Login } from "./login";
import { initialPacketSize, PacketReader, packetTypes, PacketWriter } from "./packets";
import type { Message } from "./packets";
import { readRequest } from "./requests";
import { startInnerTls } from "./tls";
import type { InnerTls, TlsCredentials } from "./tls";

/** What a connection needs of its server. */
export interface ConnectionContext {
  number: number;
  engine: EngineServer;
  /** `unsupported`: in the clear, for any wish of the client. `strict`: TLS was there before the first byte. */
  encryption: "unsupported" | "offered" | "required" | "strict";
  /** The server grants no larger packets, whatever the client wants. */
  packetSizeMax: number | undefined;
  credentials: TlsCredentials | undefined;
  /** The refusal of a client; nothing for an admitted one. */
  refuse: (login: Login) => EngineMessage[];
  fault: FaultSource;
  /** A line for the log. */
  note: (line: string) => void;
  /** Something went wrong that no fault asked for. */
  onFailure: (error: Error) => void;
}

/** What a server grants; with TLS [doc: network packet size]. */
const packetSizes = { least: 512, most: 32_767, mostEncrypted: 16_383 } as const;

/** Number, class and text of an answer when the simulation itself fails: what a server says for its own bugs. */
const internalError = { number: 8630, state: 1, class: 17, procedure: "", line: 0 } as const;
const internalErrorTextMax = 2_000;

/** The running request, and its outcome. */
interface Running {
  answer: Answer;
  isDeaf: boolean;
  finished: Promise<void>;
}

/** The server's side of one connection: one request at a time, and an attention in between. */
export class TdsConnection {
  readonly #socket: Socket;
  readonly #context: ConnectionContext;
  readonly #packets = new PacketReader();
  #stream: Duplex;
  #tls: InnerTls | null = null;
  #engine: EngineConnection | null = null;
  #sessionId = 0;
  #packetSize = initialPacketSize;
  #running: Running | null = null;
  #isDead = false;

  constructor(socket: Socket, context: ConnectionContext) {
    this.#socket = socket;
    this.#stream = socket;
    this.#context = context;
    socket.setNoDelay(true);
    // The close that follows says all there is to do.
    socket.on("error", () => undefined);
    socket.on("close", () => {
      this.#isDead = true;
      this.#engine?.close();
    });
    const fault = this.#ask({ place: "connect", connection: context.number });
    if (fault !== undefined) this.#cutBefore(fault);
    socket.on("data", (chunk: Buffer) => {
      this.#guard(() => {
        if (this.#tls === null) this.#receive(chunk);
        else this.#tls.receive(chunk);
      });
    });
  }

  /** Loses the connection now. */
  cut(manner: Manner): void {
    this.#isDead = true;
    if (manner === "fin") this.#stream.end();
    else if (manner === "rst") this.#socket.resetAndDestroy();
    else if (manner === "garbage") this.#stream.write("HTTP/1.1 400 Bad Request\r\n\r\n");
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #receive(chunk: Buffer): void {
    if (this.#isRecordTooLong(chunk)) {
      this.#context.note(`${this.#context.number} record of ${chunk.length} bytes`);
      this.#isDead = true;
      this.destroy();
      return;
    }
    for (const message of this.#packets.read(chunk)) {
      if (!this.#isDead) this.#handle(message);
    }
  }

  /** A server ends a connection at a TLS record that is longer than a packet [tedious #1762]. What arrives at once is of one record. */
  #isRecordTooLong(chunk: Buffer): boolean {
    return this.#isEncrypted && chunk.length > this.#packetSize;
  }

  get #isEncrypted(): boolean {
    return this.#tls !== null || this.#context.encryption === "strict";
  }

  #handle(message: Message): void {
    if (message.type === packetTypes.prelogin) this.#prelogin(message);
    else if (message.type === packetTypes.login) this.#login(message);
    else if (this.#engine === null) {
      throw new ProtocolError(`A message of type ${message.type} before the login`);
    } else if (message.type === packetTypes.attention) this.#attention();
    else this.#request(message, this.#engine);
  }

  #prelogin(message: Message): void {
    const fault = this.#ask({ place: "prelogin", connection: this.#context.number });
    if (fault !== undefined) {
      this.#cutBefore(fault);
      return;
    }
    const encryption = this.#settle(readPreloginEncryption(message.body));
    const writer = this.#writer();
    writer.push(preloginAnswer(encryption));
    writer.end();
    if (encryption !== encryptions.unsupported) this.#startTls();
  }

  #settle(asked: number): number {
    const { encryption } = this.#context;
    if (encryption === "required") return encryptions.required;
    if (encryption !== "offered") return encryptions.unsupported;
    return asked === encryptions.unsupported ? encryptions.unsupported : encryptions.on;
  }

  #startTls(): void {
    const { credentials } = this.#context;
    if (credentials === undefined) throw new Error("Encryption needs a certificate");
    const tls = startInnerTls(this.#socket, credentials);
    tls.stream.on("error", (error: Error) => {
      this.#context.note(`${this.#context.number} TLS: ${error.message}`);
    });
    tls.stream.on("data", (chunk: Buffer) => {
      this.#guard(() => {
        this.#receive(chunk);
      });
    });
    this.#tls = tls;
    this.#stream = tls.stream;
  }

  #login(message: Message): void {
    const login = readLogin(message.body);
    const { number, refuse, engine, note } = this.#context;
    note(`${number} login ${login.user} ${login.database} ${login.application}`);
    const fault = this.#ask({ place: "login", connection: number });
    const refusal = refuse(login);
    const isStalled = fault?.kind === "cut" && fault.at === "mid answer";
    const answer = this.#answerWith(fault, "batch");
    if (fault?.kind === "error") {
      this.#refuse(answer, [fault.error.message]);
    } else if (fault !== undefined && !isStalled) {
      this.#cutBefore(fault);
    } else if (refusal.length > 0) {
      this.#refuse(answer, refusal);
    } else {
      const session = engine.connect(login);
      this.#engine = new EngineConnection(session);
      this.#sessionId = session.sessionId;
      const { least, most, mostEncrypted } = packetSizes;
      const { packetSizeMax = this.#isEncrypted ? mostEncrypted : most } = this.#context;
      this.#packetSize = Math.min(Math.max(login.packetSize, least), packetSizeMax);
      this.#packets.sizeMax = this.#packetSize;
      answer.loggedIn({ ...login, packetSize: this.#packetSize });
      answer.end({ isFailed: false });
    }
  }

  #refuse(answer: Answer, messages: readonly EngineMessage[]): void {
    for (const message of messages) answer.message(message);
    answer.end({ isFailed: true });
    this.cut("fin");
  }

  #request(message: Message, engine: EngineConnection): void {
    if (this.#running !== null) throw new ProtocolError("A request while another one runs");
    if (message.isIgnored) {
      new Answer({ kind: "batch", writer: this.#writer() }).end({ isFailed: false });
      return;
    }
    const asked = readRequest(message);
    const { number, note } = this.#context;
    note(`${number} ${describeRequest(asked.request)}`);
    const { request, transactionId } = asked;
    const isInTransaction = transactionId !== 0n;
    const fault = this.#ask({ place: "request", connection: number, request, isInTransaction });
    if (fault?.kind === "cut" && fault.at === "before") {
      this.cut(fault.manner);
      return;
    }
    const isCall = request.kind === "procedure" || request.kind === "statement";
    const answer = this.#answerWith(fault, isCall ? "procedure" : "batch");
    const run = async (): Promise<void> => {
      if (message.reset !== "nothing") {
        engine.reset(message.reset === "all but the transaction", answer);
      }
      if (fault?.kind === "error") await engine.fail(fault.error, answer);
      else await engine.run(asked, answer);
    };
    const running: Running = {
      answer,
      isDeaf: fault?.kind === "deaf",
      finished: Promise.resolve(),
    };
    this.#running = running;
    running.finished = run().then(
      () => {
        this.#running = null;
        this.#cutAfter(fault);
      },
      (error: unknown) => {
        this.#fail(error);
      },
    );
  }

  /** The interrupted answer ends first; that the attention was heard is a message of its own [run with tedious 19.2.2]. */
  #attention(): void {
    const running = this.#running;
    this.#context.note(`${this.#context.number} attention`);
    if (running?.isDeaf === true) return;
    if (running !== null) this.#engine?.cancel();
    const finished = running?.finished ?? Promise.resolve();
    void finished.then(() => {
      new Answer({ kind: "batch", writer: this.#writer() }).attention();
    });
  }

  #answerWith(fault: Fault | undefined, kind: AnswerKind): Answer {
    if (fault?.kind !== "cut") return new Answer({ kind, writer: this.#writer() });
    const writer = this.#writer({ isLost: fault.at === "executed" });
    if (fault.at !== "mid answer") return new Answer({ kind, writer });
    const onToken = (count: number): void => {
      if (count !== fault.tokens) return;
      writer.flush();
      this.cut(fault.manner);
    };
    return new Answer({ kind, writer, onToken });
  }

  /** A new message to the client; after the connection is lost it goes nowhere. */
  #writer({ isLost } = { isLost: false }): PacketWriter {
    return new PacketWriter({
      type: packetTypes.answer,
      sessionId: this.#sessionId,
      packetSize: this.#packetSize,
      write: (bytes) => {
        if (!isLost && !this.#isDead) this.#stream.write(bytes);
      },
    });
  }

  #ask(point: FaultPoint): Fault | undefined {
    const fault = this.#context.fault(point);
    if (fault !== undefined)
      this.#context.note(`${point.connection} fault ${describeFault(fault)}`);
    return fault;
  }

  #cutBefore(fault: Fault): void {
    if (fault.kind !== "cut" || fault.at !== "before") {
      throw new Error(`Before a request there is no fault such as ${describeFault(fault)}`);
    }
    this.cut(fault.manner);
  }

  #cutAfter(fault: Fault | undefined): void {
    if (this.#isDead) return;
    if (fault?.kind === "cut") this.cut(fault.manner);
    else if (fault?.kind === "error" && fault.error.endsConnection) this.cut("fin");
  }

  #guard(body: () => void): void {
    if (this.#isDead) return;
    try {
      body();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** A client must hear of it, else its test waits for the time-out; then the connection is good for nothing. */
  #fail(thrown: unknown): void {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    const wasLost = this.#isDead;
    this.#context.onFailure(error);
    const answer =
      this.#running?.answer ??
      (this.#engine === null ? null : new Answer({ kind: "batch", writer: this.#writer() }));
    const text = `The simulation failed: ${error.message}`.slice(0, internalErrorTextMax);
    const isTold = !wasLost && answer?.abandon({ ...internalError, text }) === true;
    this.cut(isTold ? "fin" : "rst");
  }
}

const textMax = 120;

function describeRequest(request: EngineRequest): string {
  switch (request.kind) {
    case "batch":
    case "statement":
      return `${request.kind} ${JSON.stringify(request.sql.slice(0, textMax))}`;
    case "procedure":
      return `procedure ${request.name}`;
    case "transaction":
      return `${request.action} transaction`;
  }
}

function describeFault(fault: Fault): string {
  if (fault.kind === "error") return `error ${fault.error.message.number}`;
  if (fault.kind === "deaf") return "deaf";
  return `${fault.at}, ${fault.manner}`;
}
