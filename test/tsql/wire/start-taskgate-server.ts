import { migrateStore } from "../../../shared/store/open-store";
import type { EngineName } from "../../tsql-server/engine/options";
import { SimulatedServer } from "../../tsql-server/tds/simulated-server";
import type { SimulatedServerOptions } from "../../tsql-server/tds/simulated-server";
import { engines } from "../shipped/engines";

/** How to start a simulated SQL Server with Taskgate's schema. */
export interface TaskgateServerOptions extends Omit<
  SimulatedServerOptions,
  "database" | "install"
> {
  /** Whose locks and versions; default: azure. */
  database?: EngineName;
}

/** A simulated SQL Server whose schema the product's own migrator has made through the driver. */
export function startTaskgateServer(options: TaskgateServerOptions = {}): Promise<SimulatedServer> {
  const { database = "azure", ...others } = options;
  return SimulatedServer.start({
    ...others,
    database: engines[database],
    install: async (url) => {
      await migrateStore({ url });
    },
  });
}
