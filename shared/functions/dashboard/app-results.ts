import { createRequire } from "node:module";
import type * as ReadRequest from "../api/read-request";
import type { Answer, Endpoint } from "../api/respond";
import type { AppProcess } from "../runtime";

/** It loads schemas, which a start doesn't need. */
const requireLater = createRequire(__filename);

/** Codes of "there is no such table": the app has never made its own in this database. */
const missingTable: readonly unknown[] = ["42P01", "3F000", 208];

/** `GET api/results`: the app's result tables, as its `results` reads them; none where it has none, or has not made them. */
export function createGetResults(process: AppProcess): Endpoint {
  return async (request): Promise<Answer> => {
    const { refuseQuery } = requireLater("../api/read-request") as typeof ReadRequest;
    refuseQuery(request);
    const { results } = process.app;
    if (results === undefined) return { body: { tables: [] } };
    const { environment } = await process.runtime();
    try {
      return { body: { tables: await environment.store.transaction(results) } };
    } catch (error) {
      if (!isTableMissing(error)) throw error;
      return { body: { tables: [] } };
    }
  };
}

function isTableMissing(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code: unknown = "code" in error ? error.code : undefined;
  const number: unknown = "number" in error ? error.number : undefined;
  return missingTable.includes(code) || missingTable.includes(number);
}
