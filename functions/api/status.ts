import { refuseQuery } from "./read-request";
import type { Endpoint } from "./respond";

/** `GET api/status`: all definitions with their sums, dead executions, the next due instant. */
export const getStatus: Endpoint = async (request, admin) => {
  refuseQuery(request);
  return { body: await admin.status() };
};
