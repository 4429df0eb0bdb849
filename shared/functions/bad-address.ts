import { InvalidArgumentError, SettingsError } from "../core/errors";
import type { DatabaseSettings } from "../settings/settings";

/** Opens what the settings name. An address that the store refuses is a setting's fault, not that of the first request. */
export function openAddressed<Opened>(database: DatabaseSettings, open: () => Opened): Opened {
  try {
    return open();
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    const name = database.kind === "url" ? "TASKGATE_DATABASE_URL" : "TASKGATE_SQL_SERVER";
    throw new SettingsError([`${name}: ${error.message}`]);
  }
}
