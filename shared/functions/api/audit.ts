import { readListAuditQuery } from "../../admin/audit-requests";
import { auditListMax, readListing } from "../../admin/listing";
import { take } from "../../admin/object-reader";
import { queryOf } from "./read-request";
import type { Endpoint } from "./respond";

/** `GET api/audit?object=&action=&actor=&since=&before=&max=`: who changed what, newest first. */
export const listAudit: Endpoint = async (request, admin) => {
  const query = take(readListAuditQuery(queryOf(request)));
  const { rows: entries, more } = await readListing(query, admin.audit, auditListMax);
  return { body: { entries, more } };
};
