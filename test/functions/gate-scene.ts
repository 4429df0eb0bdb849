import type { QueueClient } from "@azure/storage-queue";
import { QueueServiceClient } from "@azure/storage-queue";
import type { AppParts, Gate } from "../../shared/functions";
import { taskgate } from "../../shared/functions";
import { startAzurite } from "../../shared/local/azurite";
import type { Azurite } from "../../shared/local/azurite";
import { urlAs } from "../support/roles";
import { createTestDatabase } from "../support/test-postgres";

/** The gate of an app in this process, on a real PostgreSQL and a real storage emulator. */
export interface GateScene {
  readonly gate: Gate;
  readonly azurite: Azurite;
  /** The database, as its owner. */
  readonly url: string;
  queue(name: string): QueueClient;
  close(): Promise<void>;
}

/** Opens it; the settings of the process stay as they are then. */
export async function openGateScene(
  parts: AppParts,
  settings: Readonly<Record<string, string>> = {},
): Promise<GateScene> {
  const [azurite, database] = await Promise.all([startAzurite(), createTestDatabase()]);
  Object.assign(process.env, {
    AzureWebJobsStorage: azurite.connectionString,
    TASKGATE_DATABASE_URL: urlAs(database.url, "app"),
    // The thread that renews leases runs compiled code only.
    TASKGATE_CONNECTIONS_MAX: "1",
    TASKGATE_LOG_LEVEL: "error",
    ...settings,
  });
  const gate = taskgate(parts);
  const service = QueueServiceClient.fromConnectionString(azurite.connectionString);
  return {
    gate,
    azurite,
    url: database.url,
    queue: (name) => service.getQueueClient(name),
    close: async () => {
      await gate.end();
      await Promise.all([azurite.stop(), database.drop()]);
    },
  };
}
