import { readListing } from "../../admin/listing";
import { take } from "../../admin/object-reader";
import { readGroupRequest, readListGroupsQuery } from "../../admin/task-requests";
import { bodyOf } from "./read-body";
import { callerOf, definitionOf, queryOf, refuseQuery } from "./read-request";
import type { Endpoint } from "./respond";

/** `GET api/groups?definition=&key=&max=`: slots, the tasks that use them and the tasks that wait. */
export const listGroups: Endpoint = async (request, admin) => {
  const query = take(readListGroupsQuery(queryOf(request)));
  const { rows: groups, more } = await readListing(query, admin.groups);
  return { body: { groups, more } };
};

/** `PUT api/definitions/{name}/group`: `{ key, scope?, slots?, paused?, strict?, reason? }`. */
export const putGroup: Endpoint = async (request, admin) => {
  refuseQuery(request);
  const definition = definitionOf(request);
  const change = take(readGroupRequest(await bodyOf(request)));
  return { body: await admin.setGroup({ ...change, definition, changedBy: callerOf(request) }) };
};
