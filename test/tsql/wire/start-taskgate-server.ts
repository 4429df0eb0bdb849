import { migrateStore } from "../../../shared/store/open-store";
import type { EngineName, EngineOptions } from "../../tsql-server/engine/options";
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
  /** Doubts of the model that are decided the other way. */
  switches?: Partial<EngineOptions>;
}

/** A simulated SQL Server whose schema the product's own migrator has made through the driver. */
export function startTaskgateServer(options: TaskgateServerOptions = {}): Promise<SimulatedServer> {
  const { database = "azure", switches = {}, ...others } = options;
  return SimulatedServer.start({
    ...others,
    database: { ...engines[database], ...switches },
    install: async (url) => {
      await migrateStore({ url });
    },
  });
}
