import { readListAuditQuery } from "../../admin/audit-requests";
import { readListBatchesQuery } from "../../admin/batch-requests";
import type { FailuresReport } from "../../admin/failure-actions";
import type { FailureGroup } from "../../admin/failure-groups";
import { readFailuresQuery } from "../../admin/failure-requests";
import { auditListMax, batchListMax } from "../../admin/listing";
import { take } from "../../admin/read-result";
import { readListTasksQuery } from "../../admin/task-list-request";
import { filterOf, statesOf } from "../../admin/task-list";
import type { TaskPlace } from "../../admin/task-list";
import { asBatchId } from "../../core/ids";
import type { BatchId } from "../../core/ids";
import type { ListableState } from "../../ports/task-store";
import { readBehind, readCursor, refuseCursor, writeCursor } from "./cursor";
import { lists } from "./endpoint-kinds";
import { readPage } from "./paging";
import { definitionOf, queryOf } from "./read-request";
import type { Endpoint } from "./respond";
import { needPayloads } from "./sign-in";

/** Lists that are paged in a way of their own. */

/** `GET audit`: entries of one millisecond may stand on both sides of a place, so the next read begins with all of them. */
export const listAudit = lists({
  list: "entries",
  query: readListAuditQuery,
  rows: (admin, query) => admin.audit(query),
  top: auditListMax,
  // Entries have no id; no two are alike in all.
  keyOf: (entry) => entry,
  seek: {
    placeOf: ({ at }) => new Date(Date.parse(at) + 1).toISOString(),
    tieOf: ({ at }) => at,
    from: (query, place) => ({ ...query, before: earlier(query.before, new Date(place)) }),
  },
});

/** `GET batches`: the next read begins before the last one that was shown. */
export const listBatches = lists({
  list: "batches",
  query: readListBatchesQuery,
  rows: (admin, query) => admin.batches(query),
  top: batchListMax,
  keyOf: ({ batch }) => batch,
  seek: {
    placeOf: ({ batch }) => batch,
    tieOf: ({ batch }) => batch,
    from: (query, place): { before?: BatchId; max: number } => ({
      ...query,
      before: asBatchId(place),
    }),
  },
});

/** `GET failures`: all groups come of one read, whose sums each answer tells. */
export const listFailures: Endpoint = async (request, admin) => {
  const { cursor, ...filter } = queryOf(request);
  const query = take(readFailuresQuery(filter));
  let sums: Omit<FailuresReport, "groups" | "more"> = { lookedAt: 0, isWhole: true };
  const { rows: groups, ...page } = await readPage(
    {
      list: "failures",
      keyOf: ({ definition, kind, like }: FailureGroup) => [definition, kind, like],
    },
    { query, cursor },
    async (each) => {
      const { groups: rows, lookedAt, isWhole } = await admin.failures(each);
      sums = { lookedAt, isWhole };
      return rows;
    },
  );
  return { body: { groups, ...page, ...sums } };
};

/**
 * `GET definitions/{name}/tasks`: the next read begins at a place in the order of a state's list. A search in payloads wants the right
 * to see them: its hits would tell what they hold.
 */
export const listTasks: Endpoint = async (request, admin) => {
  const { cursor, ...given } = queryOf(request);
  const query = take(readListTasksQuery(given));
  if (query.where !== undefined) needPayloads(request);
  const definition = definitionOf(request);
  const { error } = query;
  const filter = {
    ...{ definition, states: statesOf(query), ...filterOf(query) },
    ...(error === undefined ? {} : { error }),
  };
  const place = { list: "tasks", filter };
  const { before } = readCursor(place, cursor);
  const from = before === null ? null : readTaskPlace(before);
  if (from !== null && !statesOf(query).includes(from.state)) throw refuseCursor(cursor);
  const { tasks, next, ...looked } = await readBehind(cursor, () =>
    admin.tasks({ ...query, ...(from === null ? {} : { from }), definition }),
  );
  const behind =
    next === null ? null : writeCursor(place, { before: writeTaskPlace(next), seen: [] });
  return { body: { tasks, more: next !== null, cursor: behind, ...looked } };
};

function writeTaskPlace({ state, after }: TaskPlace): string {
  return after === null ? state : `${state} ${after}`;
}

/** Of a cursor that belongs to this list. One that was made by hand has a state that isn't asked for, or a place that the store refuses. */
function readTaskPlace(text: string): TaskPlace {
  const [state, after] = placeForm.exec(text)?.slice(1) ?? [];
  return { state: state as ListableState, after: after ?? null };
}

const placeForm = /^([a-z]+)(?: (.+))?$/;

function earlier(asked: Date | undefined, place: Date): Date {
  return asked !== undefined && asked < place ? asked : place;
}
