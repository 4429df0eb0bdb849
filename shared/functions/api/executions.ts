import { readListing } from "../../admin/listing";
import { take } from "../../admin/object-reader";
import { readListExecutionsQuery } from "../../admin/requests";
import { queryOf } from "./read-request";
import type { Endpoint } from "./respond";

/** `GET api/executions?definition=&open=&max=`: who works, with how many tokens, newest first. */
export const listExecutions: Endpoint = async (request, admin) => {
  const query = take(readListExecutionsQuery(queryOf(request)));
  const { rows: executions, more } = await readListing(query, admin.executions);
  return { body: { executions, more } };
};
