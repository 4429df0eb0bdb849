import { loadScript } from "../engine/load";
import { SimulatedEngine } from "../engine/engine-server";
import type { EngineServerOptions } from "../engine/engine-server";
import { engines } from "../engine/options";
import type { EngineOptions } from "../engine/options";
import { World } from "../engine/world";
import type { EngineServer, EngineSession, Welcome } from "./engine-port";
import { TdsServer } from "./server";
import type { TdsServerOptions } from "./server";

/**
 * A SQL Server that isn't one: the model of the database behind the protocol, on this machine only. A
 * program makes its schema through the driver, and opens the server's address as it would open another one's.
 */

/** How to start. */
export interface SimulatedServerOptions extends Omit<TdsServerOptions, "engine"> {
  /** Whose locks and versions; default: azure. */
  database?: EngineOptions;
  /** Who moves next, and how long waits for locks last. */
  engine?: EngineServerOptions;
  /** Makes the schema through the driver, as the owner; default: there is none. */
  install?: (url: string) => Promise<void>;
  /** T-SQL that the owner runs once the schema is there, such as logins: each `reset` comes back to what it made. */
  setUp?: string;
}

/** A running server with the schema in place. */
export class SimulatedServer {
  readonly server: TdsServer;
  readonly #engines: EngineSwitch;
  readonly #migrated: World;

  private constructor(server: TdsServer, engines: EngineSwitch, migrated: World) {
    this.server = server;
    this.#engines = engines;
    this.#migrated = migrated;
  }

  static async start(options: SimulatedServerOptions = {}): Promise<SimulatedServer> {
    const { database = engines.azure, engine = {}, install, setUp, ...serverOptions } = options;
    const world = new World(database);
    const chosen = new EngineSwitch(world, engine);
    const server = await TdsServer.start({ engine: chosen, ...serverOptions });
    try {
      await install?.(server.url());
    } catch (error) {
      await server.close();
      throw error;
    }
    if (setUp !== undefined) loadScript(world, setUp, "set-up");
    const simulated = new SimulatedServer(server, chosen, world);
    simulated.reset();
    return simulated;
  }

  /** The address for the owner. */
  get url(): string {
    return this.server.url();
  }

  /** The address for another user than the owner. */
  urlOf(login: { user: string; password: string }): string {
    return this.server.url(undefined, login);
  }

  /** The database that new connections reach. */
  get world(): World {
    return this.#engines.world;
  }

  /** An empty database with the schema, for connections from now on; those that are open keep the old one. */
  reset(): World {
    return this.#engines.use(this.#migrated.fork());
  }

  close(): Promise<void> {
    return this.server.close();
  }
}

/** Leads each new connection to the present database. */
class EngineSwitch implements EngineServer {
  readonly #options: EngineServerOptions;
  #engine: SimulatedEngine;

  constructor(world: World, options: EngineServerOptions) {
    this.#options = options;
    this.#engine = new SimulatedEngine(world, options);
  }

  get world(): World {
    return this.#engine.world;
  }

  use(world: World): World {
    this.#engine = new SimulatedEngine(world, this.#options);
    return world;
  }

  welcomes(login: Parameters<SimulatedEngine["welcomes"]>[0]): Welcome {
    return this.#engine.welcomes(login);
  }

  connect(login: Parameters<EngineServer["connect"]>[0]): EngineSession {
    return this.#engine.connect(login);
  }
}
