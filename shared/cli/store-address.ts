import type { Settings } from "../settings/settings";
import type { DatabaseAddress } from "../store/open-store";

/** Where the store is, as the store takes it. */
export function storeAddress({
  database,
  schema,
}: Pick<Settings, "database" | "schema">): DatabaseAddress {
  if (database.kind === "url") return { url: database.url, schema };
  const { server, database: name, clientId } = database;
  return { identity: { server, database: name, clientId }, schema };
}
