import { readListAuditQuery } from "../../admin/audit-requests";
import { readListBatchesQuery } from "../../admin/batch-requests";
import type { BatchReport } from "../../admin/batch-actions";
import type { FailuresReport } from "../../admin/failure-actions";
import type { FailureGroup } from "../../admin/failure-groups";
import { readFailuresQuery } from "../../admin/failure-requests";
import { auditListMax, batchListMax } from "../../admin/listing";
import { take } from "../../admin/read-result";
import { asBatchId } from "../../core/ids";
import type { BatchId } from "../../core/ids";
import type { AuditEntry } from "../../ports/task-store";
import { lists } from "./endpoint-kinds";
import { readPage } from "./paging";
import { queryOf } from "./read-request";
import type { Endpoint } from "./respond";

/** Lists that are paged in a way of their own. */

/** `GET audit`: entries of one millisecond may stand on both sides of a place, so the next read begins with all of them. */
export const listAudit = lists(
  {
    member: "entries",
    query: readListAuditQuery,
    top: auditListMax,
    // Entries have no id; no two are alike in all.
    keyOf: (entry: AuditEntry) => entry,
    seek: {
      placeOf: ({ at }) => new Date(Date.parse(at) + 1).toISOString(),
      tieOf: ({ at }) => at,
      from: (query, place) => ({ ...query, before: earlier(query.before, new Date(place)) }),
    },
  },
  (admin, query) => admin.audit(query),
);

/** `GET batches`: the next read begins before the last one that was shown. */
export const listBatches = lists(
  {
    member: "batches",
    query: readListBatchesQuery,
    top: batchListMax,
    keyOf: ({ batch }: BatchReport) => batch,
    seek: {
      placeOf: ({ batch }) => batch,
      tieOf: ({ batch }) => batch,
      from: (query, place): { before?: BatchId; max: number } => ({
        ...query,
        before: asBatchId(place),
      }),
    },
  },
  (admin, query) => admin.batches(query),
);

/** `GET failures`: all groups come of one read, whose sums each answer tells. */
export const listFailures: Endpoint = async (request, admin) => {
  const { cursor, ...filter } = queryOf(request);
  const query = take(readFailuresQuery(filter));
  let sums: Omit<FailuresReport, "groups" | "more"> = { read: 0, isWhole: true };
  const { rows: groups, ...page } = await readPage(
    {
      list: "failures",
      keyOf: ({ definition, kind, like }: FailureGroup) => [definition, kind, like],
    },
    { query, cursor },
    async (each) => {
      const { groups: rows, read, isWhole } = await admin.failures(each);
      sums = { read, isWhole };
      return rows;
    },
  );
  return { body: { groups, ...page, ...sums } };
};

function earlier(asked: Date | undefined, place: Date): Date {
  return asked !== undefined && asked < place ? asked : place;
}
