import { SimulatedEngine } from "../tsql-server/engine/engine-server";
import type { EngineName } from "../tsql-server/engine/options";
import { engines } from "../tsql/shipped/engines";
import { World } from "../tsql-server/engine/world";
import type {
  EngineEvents,
  EngineRequest,
  EngineServer,
  EngineSession,
  RequestOutcome,
  Welcome,
} from "../tsql-server/tds/engine-port";
import { TdsServer } from "../tsql-server/tds/server";
import { BatchConnection } from "./batch-connection";
import { removeSchemas } from "./own-schemas";
import type { Workplace } from "./workplace";

/** Our own endpoint: it isn't SQL Server, and stands for one only as far as this program is concerned. */
export async function startSimulatedPlace(): Promise<Workplace> {
  const engine = new LivingEngine();
  const server = await TdsServer.start({ engine });
  const url = server.url();
  await prepare(url);
  let isOpen = true;
  return {
    server: "Our own endpoint over a model of SQL Server. It is NOT SQL Server",
    url,
    what: "a database in this process",
    litmusSchema: "TaskgateLitmus",
    engines: ["locking", "versioned", "azure"],
    lockView: "simulated",
    isSimulated: true,
    mayMakeLogins: true,
    switchTo: (name) => {
      engine.use(name);
      return prepare(url);
    },
    remove: async () => {
      if (!isOpen) return;
      isOpen = false;
      await removeSchemas(url);
      const left = [...engine.world.catalog.objects].map(({ name }) => name);
      await server.close();
      if (left.length > 0) throw new Error(`The removal left ${left.join(", ")}`);
    },
  };
}

async function prepare(url: string): Promise<void> {
  const connection = await BatchConnection.open(url, "taskgate verify");
  await connection.must("CREATE SCHEMA TaskgateLitmus;");
  await connection.close();
}

/** A world whose clock goes with ours, and that can be exchanged for another one. */
class LivingEngine implements EngineServer {
  world = new World(engines.azure);
  #engine = engineOver(this.world);

  use(name: EngineName): void {
    this.world = new World(engines[name]);
    this.#engine = engineOver(this.world);
  }

  welcomes(login: Parameters<SimulatedEngine["welcomes"]>[0]): Welcome {
    return this.#engine.welcomes(login);
  }

  connect(login: Parameters<EngineServer["connect"]>[0]): EngineSession {
    const { world } = this;
    return withClock(this.#engine.connect(login), () => {
      world.clock = Date.now();
    });
  }
}

/** Callers take turns by chance and often, so that races are some. */
function engineOver(world: World): SimulatedEngine {
  return new SimulatedEngine(world, { seed: 1, stepsPerTurn: 8 });
}

function withClock(session: EngineSession, tick: () => void): EngineSession {
  return {
    sessionId: session.sessionId,
    run: (request: EngineRequest, events: EngineEvents): Promise<RequestOutcome> => {
      tick();
      return session.run(request, events);
    },
    cancel: () => {
      session.cancel();
    },
    close: () => {
      session.close();
    },
    reset: (keepsTransaction) => {
      session.reset(keepsTransaction);
    },
  };
}
