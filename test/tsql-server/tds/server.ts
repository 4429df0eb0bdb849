import { createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { TdsConnection } from "./connection";
import type { ConnectionContext } from "./connection";
import type { EngineMessage, EngineServer, Welcome } from "./engine-port";
import type { FaultSource, Manner } from "./faults";
import type { TlsCredentials } from "./tls";

/**
 * A server on the loopback address that speaks as much TDS 7.4 as the `mssql` driver needs, over any engine that keeps
 * `engine-port.ts`. It proves what a program does with the driver; what a real SQL Server sends it doesn't prove.
 */

/** How a server behaves. */
export interface TdsServerOptions {
  engine: EngineServer;
  /** Only this machine's own address is allowed; default 127.0.0.1. */
  host?: string;
  /** Default `unsupported`. */
  encryption?: ConnectionContext["encryption"];
  packetSizeMax?: number;
  /** Needed for every encryption but `unsupported`. */
  credentials?: TlsCredentials;
  /** The owner's login; default: u with password p. Others are the engine's: CREATE LOGIN. */
  login?: { user: string; password: string };
  fault?: FaultSource;
}

const defaultLogin = { user: "u", password: "p" };

const logLinesMax = 2_000;
const database = "Simulated";

/** A listening server. */
export class TdsServer {
  readonly #options: TdsServerOptions;
  readonly #server: Server;
  readonly #connections = new Set<TdsConnection>();
  readonly #failures: Error[] = [];
  readonly #log: string[] = [];
  #connectionCount = 0;
  #fault: FaultSource;

  private constructor(options: TdsServerOptions) {
    this.#options = options;
    this.#fault = options.fault ?? (() => undefined);
    const accept = (socket: Socket): void => {
      this.#accept(socket);
    };
    this.#server =
      options.encryption === "strict" ? strictServer(options, accept) : createServer(accept);
  }

  /** Listens on a free port. Throws for an address that others could reach, and for encryption without a certificate. */
  static async start(options: TdsServerOptions): Promise<TdsServer> {
    const host = options.host ?? "127.0.0.1";
    if (!/^(?:127(?:\.\d{1,3}){3}|::1|localhost)$/.test(host)) {
      throw new Error(`The simulated server listens on this machine only, not on \`${host}\``);
    }
    if (
      (options.encryption ?? "unsupported") !== "unsupported" &&
      options.credentials === undefined
    ) {
      throw new Error("Expected `credentials` for a server with encryption");
    }
    const server = new TdsServer(options);
    await new Promise<void>((resolve, reject) => {
      server.#server.once("error", reject);
      server.#server.listen(0, host, resolve);
    });
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Connections that are open now. */
  get openConnections(): number {
    return this.#connections.size;
  }

  /** Connections that were ever made. */
  get connectionCount(): number {
    return this.#connectionCount;
  }

  /** The requests, by connection and in order: print it with a failure. The oldest lines go first. */
  get log(): readonly string[] {
    return this.#log;
  }

  /** From now on this decides what goes wrong. */
  setFault(fault: FaultSource | undefined): void {
    this.#fault = fault ?? (() => undefined);
  }

  /** The address as a URL; `options` such as `encrypt=true`; `login`: not the owner's. */
  url(options = "encrypt=false", login = this.#options.login ?? defaultLogin): string {
    const { user, password } = login;
    return `mssql://${user}:${password}@127.0.0.1:${this.port}/${database}?${options}`;
  }

  /** Loses every open connection, as a restart or a failover does. */
  cutAll(manner: Manner = "rst"): void {
    for (const connection of this.#connections) connection.cut(manner);
  }

  /** What went wrong in the simulation itself since the last call, for tests that expect it. */
  takeFailures(): Error[] {
    return this.#failures.splice(0);
  }

  /** Ends everything. Throws what went wrong in the simulation itself: no test may pass over it. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => {
        resolve();
      });
    });
    for (const connection of this.#connections) connection.destroy();
    await closed;
    const failures = this.takeFailures();
    if (failures.length > 0) {
      throw new AggregateError(failures, failures.map((failure) => failure.message).join("; "));
    }
  }

  #accept(socket: Socket): void {
    this.#connectionCount += 1;
    const { engine, encryption, credentials, login, packetSizeMax } = this.#options;
    const expected = login ?? defaultLogin;
    const connection = new TdsConnection(socket, {
      number: this.#connectionCount,
      engine,
      encryption: encryption ?? "unsupported",
      packetSizeMax,
      credentials,
      refuse: (asked) => {
        if (asked.user === expected.user && asked.password === expected.password) return [];
        return refusalsOf(engine.welcomes?.(asked) ?? "unknown", asked.user);
      },
      fault: (point) => this.#fault(point),
      note: (line) => {
        this.#log.push(line);
        if (this.#log.length > logLinesMax) this.#log.shift();
      },
      onFailure: (error) => this.#failures.push(error),
    });
    this.#connections.add(connection);
    socket.on("close", () => this.#connections.delete(connection));
  }
}

/** Errors 4060 and 18456, as a client that tries to sign in is told them. */
function refusalsOf(welcome: Welcome, user: string): EngineMessage[] {
  if (welcome === "welcome") return [];
  const rest = { state: 1, procedure: "", line: 1 };
  const failed = { number: 18456, class: 14, text: `Login failed for user '${user}'.`, ...rest };
  if (welcome === "unknown") return [failed];
  const text = `Cannot open database "${database}" requested by the login. The login failed.`;
  return [{ number: 4060, class: 11, text, ...rest }, failed];
}

/** TDS 8.0: TLS from the first byte. */
function strictServer(options: TdsServerOptions, accept: (socket: Socket) => void): Server {
  const { credentials } = options;
  return createTlsServer(
    { cert: credentials?.certificate, key: credentials?.key, ALPNProtocols: ["tds/8.0"] },
    accept,
  );
}
