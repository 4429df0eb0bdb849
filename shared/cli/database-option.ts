import type { Problem } from "../admin/read-result";
import { isDatabaseUrl } from "../settings/setting-formats";

/** The fault of the address that `--db` gives; empty: nothing, also where it isn't given. The address holds a password: it isn't shown. */
export function problemsOfDatabase(databaseUrl: string | null): Problem[] {
  if (databaseUrl === null || isDatabaseUrl(databaseUrl)) return [];
  const expected = "postgres://user:password@host:port/database or mssql://..";
  return [{ field: "--db", value: "something else", expected }];
}
