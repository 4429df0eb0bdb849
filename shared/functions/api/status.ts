import { refuseQuery } from "./read-request";
import type { Endpoint } from "./respond";
import { mayOperate } from "./sign-in";

/**
 * `GET api/status`: all definitions with their sums, dead executions, the next due instant, and whether the caller
 * has the routes of operators: a page leaves out its buttons where it hasn't.
 */
export function createGetStatus({ operatorApi }: { operatorApi: boolean }): Endpoint {
  return async (request, admin) => {
    refuseQuery(request);
    const canOperate = operatorApi && mayOperate(request);
    return { body: { ...(await admin.status()), operatorApi: canOperate } };
  };
}
