// The driver asks for `instanceof Error`, also of errors that sockets make outside the realm of a test.
import "../support/node-errors";
import sql from "mssql";
import type { config as DriverConfig } from "mssql";
import { ScriptedEngine } from "./scripted-engine";
import type { Script } from "./scripted-engine";
import { TdsServer } from "./server";
import type { TdsServerOptions } from "./server";

/** A server over a scripted engine, and pools of the driver as it is installed, for one test at a time. */

/** What a pool is opened with besides the address. */
export type PoolConfig = Partial<Omit<DriverConfig, "options">> & {
  options?: NonNullable<DriverConfig["options"]> & { cancelTimeout?: number };
};

/** Servers and pools of the tests of one file. */
export class DriverBenches {
  readonly #closers: (() => Promise<unknown>)[] = [];

  /** Starts a server. */
  async serve(script?: Script, options: Partial<TdsServerOptions> = {}): Promise<DriverBench> {
    const engine = new ScriptedEngine(script);
    const server = await TdsServer.start({ engine, ...options });
    this.#closers.push(() => server.close());
    return new DriverBench(engine, server, this.#closers);
  }

  /** Ends what the test has opened, last first. Throws what the simulation itself got wrong. */
  async close(): Promise<void> {
    for (const close of this.#closers.splice(0).reverse()) await close();
  }
}

/** One server and its pools. */
export class DriverBench {
  readonly engine: ScriptedEngine;
  readonly server: TdsServer;
  /** Errors that pools told their listeners of. */
  readonly poolErrors: Error[] = [];
  readonly #closers: (() => Promise<unknown>)[];

  constructor(engine: ScriptedEngine, server: TdsServer, closers: (() => Promise<unknown>)[]) {
    this.engine = engine;
    this.server = server;
    this.#closers = closers;
  }

  /** A pool, connected. `validateConnection` is "socket" unless asked otherwise: nothing but the test's requests comes. */
  async pool(config: PoolConfig = {}): Promise<sql.ConnectionPool> {
    const pool = this.unconnectedPool(config);
    await pool.connect();
    return pool;
  }

  unconnectedPool(config: PoolConfig = {}): sql.ConnectionPool {
    const { options, ...rest } = config;
    const pool = new sql.ConnectionPool({
      server: "127.0.0.1",
      port: this.server.port,
      user: "u",
      password: "p",
      database: "App",
      validateConnection: "socket",
      options: { encrypt: false, ...options },
      ...rest,
    });
    // Without a listener a connection that is lost under a request ends the process.
    pool.on("error", (error: Error) => this.poolErrors.push(error));
    this.#closers.push(() => pool.close().catch(() => undefined));
    return pool;
  }
}

/** What a test compares of a thrown error of the driver. */
export async function failureOf(work: Promise<unknown>): Promise<Record<string, unknown>> {
  let thrown: unknown;
  try {
    await work;
  } catch (error) {
    thrown = error;
  }
  if (!(thrown instanceof Error)) throw new Error("Expected the call to fail, it succeeded");
  const { name, message } = thrown;
  return { ...Object.fromEntries(Object.entries(thrown)), name, message };
}

/** Waits for something that the other side of a socket does. */
export async function until(isTrue: () => boolean): Promise<void> {
  for (let turns = 0; !isTrue(); turns += 1) {
    if (turns > 2_000) throw new Error("What was waited for hasn't come");
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
