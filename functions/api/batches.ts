import { readBatchId, readListBatchesQuery } from "../../shared/admin/batch-requests";
import { batchListMax, readListing } from "../../shared/admin/listing";
import { take } from "../../shared/admin/object-reader";
import { queryOf, refuseQuery } from "./read-request";
import type { Endpoint } from "./respond";

/** `GET api/batches?before=&most=`: newest first. */
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

/** `POST api/batches/{id}/resume` */
export const resumeBatch: Endpoint = async (request, admin) => {
  refuseQuery(request);
  return { body: await admin.resumeBatch(take(readBatchId(request.params["id"]))) };
};

/** `POST api/batches/{id}/cancel` */
export const cancelBatch: Endpoint = async (request, admin) => {
  refuseQuery(request);
  return { body: await admin.cancelBatch(take(readBatchId(request.params["id"]))) };
};
