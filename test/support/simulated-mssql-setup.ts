import type { TaskStore } from "../../shared/ports/task-store";
import type { SimulatedServer } from "../tsql-server/tds/simulated-server";
import { startTaskgateServer } from "../tsql/wire/start-taskgate-server";
import type { TaskgateServerOptions } from "../tsql/wire/start-taskgate-server";
import { recordMssqlCalls } from "./mssql-call-record";
import { closeMssqlStores, openMssqlStores, openPlainMssqlStore } from "./mssql-setup";
import { makeLoginsSql } from "./mssql-logins";
import type { MssqlStores } from "./mssql-setup";
import type { StoreSetup } from "./store-setup";
import { WorldTestStore } from "./world-test-store";

/** A simulated server with the tests' users. */
export function startSimulated(options: TaskgateServerOptions = {}): Promise<SimulatedServer> {
  recordMssqlCalls();
  return startTaskgateServer({ ...options, setUp: makeLoginsSql });
}

/** The product's adapter and driver over the simulated SQL Server: a copy of the migrated database for each test. */
export function simulatedMssqlSetup(options: TaskgateServerOptions = {}): StoreSetup {
  let starting: Promise<SimulatedServer> | undefined;
  let stores: MssqlStores | undefined;
  let connections: TaskStore[] = [];
  const closeStores = async (): Promise<void> => {
    if (stores !== undefined) await closeMssqlStores(stores);
    await Promise.all(connections.map((open) => open.close()));
    connections = [];
  };
  return {
    dialect: "mssql",
    missing: {
      "isolation level": "each procedure of SQL Server sets its own",
      ...(options.fault === undefined ? {} : { "sure calls": "connections are lost on purpose" }),
    },
    record: recordMssqlCalls(),
    open: async () => {
      const simulated = await (starting ??= startSimulated(options));
      await closeStores();
      const world = simulated.reset();
      // A whole millisecond: boundaries can be hit.
      world.clock = Date.UTC(2026, 10, 21, 10, 20, 30, 123);
      stores = openMssqlStores(simulated.url);
      return new WorldTestStore(stores, world);
    },
    connect: async (count) => {
      const { url } = await (starting ??= startSimulated(options));
      while (connections.length < count) connections.push(openPlainMssqlStore(url, 1));
      return connections.slice(0, count);
    },
    close: async () => {
      await closeStores();
      await (await starting)?.close();
    },
  };
}
