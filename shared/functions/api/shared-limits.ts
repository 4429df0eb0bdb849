import { readListSharedLimitsQuery, readSharedLimitName } from "../../admin/limit-requests";
import { readListing } from "../../admin/listing";
import { take } from "../../admin/object-reader";
import { readLimitRequest } from "../../admin/requests";
import { bodyOf } from "./read-body";
import { callerOf, queryOf, refuseQuery } from "./read-request";
import type { Endpoint } from "./respond";

/** `GET api/shared-limits?name=&max=`: the tokens held of each, by definition. */
export const listSharedLimits: Endpoint = async (request, admin) => {
  const query = take(readListSharedLimitsQuery(queryOf(request)));
  const { rows: sharedLimits, more } = await readListing(query, admin.sharedLimits);
  return { body: { sharedLimits, more } };
};

/** `PUT api/shared-limits/{name}`: `{ limit: number | null | "code", reason?, operationId? }`. */
export const putSharedLimit: Endpoint = async (request, admin) => {
  refuseQuery(request);
  const name = take(readSharedLimitName(request.params["name"]));
  const change = take(readLimitRequest(await bodyOf(request)));
  return { body: await admin.setSharedLimit({ ...change, name, changedBy: callerOf(request) }) };
};
