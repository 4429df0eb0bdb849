import { refuseQuery } from "./read-request";
import type { Endpoint } from "./respond";

/**
 * `GET api/status`: all definitions with their sums, dead executions, the next due instant, and whether the app has the
 * routes of operators: a page leaves out its buttons where it hasn't.
 */
export function createGetStatus({ operatorApi }: { operatorApi: boolean }): Endpoint {
  return async (request, admin) => {
    refuseQuery(request);
    return { body: { ...(await admin.status()), operatorApi } };
  };
}
