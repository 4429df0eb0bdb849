import { SettingsError } from "../core/errors";
import type { DatabaseSettings } from "../settings/settings";

/** The address of the database. Throws SettingsError where the settings name a server and an identity instead. */
export function requireUrl(database: DatabaseSettings): string {
  if (database.kind === "url") return database.url;
  throw new SettingsError([
    "TASKGATE_SQL_SERVER: expected TASKGATE_DATABASE_URL or --db for this command, got a server and an identity",
  ]);
}
