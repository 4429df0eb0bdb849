import type { DatabaseSettings, Settings } from "../settings/settings";
import type { DatabaseAddress } from "../store/open-store";

/** Where the store is, as the store takes it. */
export function storeAddress(settings: Pick<Settings, "database" | "schema">): DatabaseAddress {
  const { database, schema } = settings;
  return { ...addressOf(database), schema };
}

function addressOf(database: DatabaseSettings): DatabaseAddress {
  if (database.kind === "url") return { url: database.url };
  const { server, database: name, clientId } = database;
  return { identity: { server, database: name, clientId } };
}
