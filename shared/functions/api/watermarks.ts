import { readListing } from "../../admin/listing";
import { take } from "../../admin/object-reader";
import { readListWatermarksQuery, readWatermarkRequest } from "../../admin/watermark-requests";
import { limits } from "../../core/limits";
import { bodyOf } from "./read-body";
import { callerOf, definitionOf, queryOf, refuseQuery } from "./read-request";
import type { Endpoint } from "./respond";

/** `GET api/watermarks?definition=&watermark=&max=`: how far blocks have been made. */
export const listWatermarks: Endpoint = async (request, admin) => {
  const query = take(readListWatermarksQuery(queryOf(request)));
  const { rows: watermarks, more } = await readListing(query, admin.watermarks);
  return { body: { watermarks, more } };
};

/** `PUT api/definitions/{name}/watermark`: `{ watermark, value, version?, operationId?, reason? }`. */
export const putWatermark: Endpoint = async (request, admin) => {
  refuseQuery(request);
  const definition = definitionOf(request);
  const change = take(readWatermarkRequest(await bodyOf(request, limits.httpTaskBytesMax)));
  const changedBy = callerOf(request);
  return { body: await admin.setWatermark({ ...change, definition, changedBy }) };
};
