import { readBatchId, readListBatchesQuery } from "../../admin/batch-requests";
import { batchListMax, readListing } from "../../admin/listing";
import { take } from "../../admin/object-reader";
import { readOperatorRequest } from "../../admin/requests";
import { bodyOf } from "./read-body";
import { callerOf, queryOf, refuseQuery } from "./read-request";
import type { Endpoint } from "./respond";

/** `GET api/batches?before=&max=`: newest first. */
export const listBatches: Endpoint = async (request, admin) => {
  const query = take(readListBatchesQuery(queryOf(request)));
  const { rows: batches, more } = await readListing(query, admin.batches, batchListMax);
  return { body: { batches, more } };
};

/** `GET api/batches/{id}` */
export const getBatch: Endpoint = async (request, admin) => {
  refuseQuery(request);
  return { body: await admin.batch(take(readBatchId(request.params["id"]))) };
};

/** `POST api/batches/{id}/resume`: `{ reason? }` or nothing. */
export const resumeBatch: Endpoint = async (request, admin) => {
  refuseQuery(request);
  const batchId = take(readBatchId(request.params["id"]));
  const change = take(readOperatorRequest(await bodyOf(request)));
  return { body: await admin.resumeBatch({ ...change, batchId, changedBy: callerOf(request) }) };
};

/** `POST api/batches/{id}/cancel`: `{ reason? }` or nothing. */
export const cancelBatch: Endpoint = async (request, admin) => {
  refuseQuery(request);
  const batchId = take(readBatchId(request.params["id"]));
  const change = take(readOperatorRequest(await bodyOf(request)));
  return { body: await admin.cancelBatch({ ...change, batchId, changedBy: callerOf(request) }) };
};
