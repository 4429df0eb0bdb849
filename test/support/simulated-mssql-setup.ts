import { realRandom, sleep } from "../../shared/platform/real-clock";
import type { TaskStore } from "../../shared/ports/task-store";
import { openStore } from "../../shared/store/open-store";
import { SimulatedServer } from "../simulation/tsql/tds/start-simulated-server";
import type { SimulatedServerOptions } from "../simulation/tsql/tds/start-simulated-server";
import { openPlainMssqlStore } from "./mssql-setup";
import type { StoreSetup } from "./store-setup";
import { WorldTestStore } from "./world-test-store";

/** The product's adapter and driver over the simulated SQL Server: a copy of the migrated database for each test. */
export function simulatedMssqlSetup(options: SimulatedServerOptions = {}): StoreSetup {
  let starting: Promise<SimulatedServer> | undefined;
  let store: TaskStore | undefined;
  let plain: TaskStore | undefined;
  let connections: TaskStore[] = [];
  const closeStores = async (): Promise<void> => {
    await Promise.all([store, plain, ...connections].map(async (open) => open?.close()));
    connections = [];
  };
  return {
    dialect: "mssql",
    missing: {
      "isolation level": "each procedure of SQL Server sets its own",
      ...(options.fault === undefined ? {} : { "sure calls": "connections are lost on purpose" }),
    },
    open: async () => {
      const simulated = await (starting ??= SimulatedServer.start(options));
      await closeStores();
      const world = simulated.reset();
      // A whole millisecond: boundaries can be hit.
      world.clock = Date.UTC(2026, 10, 21, 10, 20, 30, 123);
      store = openStore({ url: simulated.url, connectionsMax: 10, random: realRandom, sleep });
      plain = openPlainMssqlStore(simulated.url);
      return new WorldTestStore(store, world, plain);
    },
    connect: async (count) => {
      const { url } = await (starting ??= SimulatedServer.start(options));
      while (connections.length < count) connections.push(openPlainMssqlStore(url, 1));
      return connections.slice(0, count);
    },
    close: async () => {
      await closeStores();
      await (await starting)?.close();
    },
  };
}
