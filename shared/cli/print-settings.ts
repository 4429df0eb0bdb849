import type { CommandContext } from "./command";
import { exitCodes } from "./exit-codes";
import type { ExitCode } from "./exit-codes";

/**
 * `taskgate dev --print-settings`: local.settings.json for `func start`, on standard output. The database is that of the
 * run in this folder, or of --db; the queues are those of an Azurite that listens on its usual ports.
 */
export function printSettings(context: CommandContext): ExitCode {
  const { database } = context.target().settings;
  const values = {
    FUNCTIONS_WORKER_RUNTIME: "node",
    AzureWebJobsStorage: "UseDevelopmentStorage=true",
    ...(database.kind === "url"
      ? { TASKGATE_DATABASE_URL: database.url }
      : {
          TASKGATE_SQL_SERVER: database.server,
          TASKGATE_SQL_DATABASE: database.database,
          ...(database.clientId === null ? {} : { TASKGATE_SQL_CLIENT_ID: database.clientId }),
        }),
  };
  context.output.line(JSON.stringify({ IsEncrypted: false, Values: values }, null, 2));
  if (!context.isJson)
    context.output.error(
      "Timers of `func start` want Azurite's blobs, too: start it with `npx azurite --location .taskgate/azurite --disableTelemetry --skipApiVersionCheck`.",
    );
  return exitCodes.ok;
}
