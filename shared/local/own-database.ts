import { messageOf } from "../core/foreign-value";
import { isDatabaseUrl } from "../settings/setting-formats";
import { readLocalSettings } from "./local-app";
import type { LocalApp } from "./local-app";

const place = "TASKGATE_DATABASE_URL in local.settings.json";

/** The database that local.settings.json names; null: none. */
export function ownDatabase(app: LocalApp): string | null {
  const { TASKGATE_DATABASE_URL: url = "" } = readLocalSettings(app.root);
  if (url === "") return null;
  if (isDatabaseUrl(url)) return url;
  throw new Error(`${place}: expected postgres://user:password@host:port/database or mssql://..`);
}

/** Says of a database which can't be used where its address stands. */
export function blameOwnDatabase(error: unknown): Error {
  const text = messageOf(error);
  const way = `The address is ${place}. Without it an embedded PostgreSQL is used, whose address changes with each start.`;
  return new Error(`${text}\n${way}`, { cause: error });
}
