import type { HttpRequest } from "@azure/functions";
import { readOwnerRequest } from "../../admin/app-requests";
import { readListAuditQuery } from "../../admin/audit-requests";
import { readBatchId, readListBatchesQuery } from "../../admin/batch-requests";
import type { Admin } from "../../admin/create-admin";
import { readFailuresQuery, readRedriveFailuresRequest } from "../../admin/failure-requests";
import {
  readListSharedLimitsQuery,
  readRateRequest,
  readSharedLimitName,
} from "../../admin/limit-requests";
import { auditListMax, batchListMax, readListing } from "../../admin/listing";
import { take } from "../../admin/read-result";
import type { ReadResult } from "../../admin/read-result";
import {
  readLimitRequest,
  readListExecutionsQuery,
  readListTasksQuery,
  readOperatorRequest,
  readTaskId,
} from "../../admin/requests";
import {
  readListSchedulesQuery,
  readRunScheduleRequest,
  readScheduleRequest,
} from "../../admin/schedule-requests";
import * as tasks from "../../admin/task-requests";
import { readStatisticsQuery } from "../../admin/statistics-requests";
import { readListWatermarksQuery, readWatermarkRequest } from "../../admin/watermark-requests";
import { limits } from "../../core/limits";
import type { RouteName } from "./openapi/descriptions";
import { makeDocument } from "./openapi/document";
import type { DescribedRoute } from "./openapi/document";
import { bodyOf, bodyWithIds } from "./read-body";
import { callerOf, definitionOf, queryOf, refuseQuery } from "./read-request";
import type { Endpoint } from "./respond";
import { createGetStatus } from "./status";
import { enqueueTasks } from "./tasks";

/** What each route does. Loaded with the first request: its schemas cost more than all else that a start loads. */

type Reader<Value> = (input: unknown) => ReadResult<Value>;

const everywhere = (): object => ({});
const ofDefinition = (request: HttpRequest) => ({ definition: definitionOf(request) });
const ofSharedLimit = ({ params }: HttpRequest) => ({
  name: take(readSharedLimitName(params["name"])),
});
const ofBatch = ({ params }: HttpRequest) => ({ batchId: take(readBatchId(params["id"])) });

/** Answers what `read` makes of a request without a query. */
function shows(read: (admin: Admin, request: HttpRequest) => Promise<unknown>): Endpoint {
  return async (request, admin) => {
    refuseQuery(request);
    return { body: await read(admin, request) };
  };
}

interface List<Place, Query> {
  /** The member of the answer. */
  readonly member: string;
  readonly place?: (request: HttpRequest) => Place;
  readonly query: Reader<Query>;
  /** The most that may be asked for. */
  readonly top?: number;
}

/** Answers the rows that a query asks for, and whether there are more. */
function lists<Place extends object, Query extends { readonly max: number }>(
  { member, place = everywhere as () => Place, query, top }: List<Place, Query>,
  rowsOf: (admin: Admin, query: Place & Query) => Promise<readonly unknown[]>,
): Endpoint {
  return async (request, admin) => {
    const asked = { ...place(request), ...take(query(queryOf(request))) };
    const { rows, more } = await readListing(asked, (each) => rowsOf(admin, each), top);
    return { body: { [member]: rows, more } };
  };
}

interface Change<Place, Value> {
  readonly place?: (request: HttpRequest) => Place;
  readonly read: Reader<Value>;
  readonly body?: (request: HttpRequest) => Promise<unknown>;
}

/** Changes what the body says, in the name of the caller. */
function changes<Place extends object, Value extends object>(
  {
    place = everywhere as () => Place,
    read,
    body = (request) => bodyOf(request),
  }: Change<Place, Value>,
  call: (admin: Admin, change: Place & Value & { readonly changedBy: string }) => Promise<unknown>,
): Endpoint {
  return async (request, admin) => {
    refuseQuery(request);
    const where = place(request);
    const change = take(read(await body(request)));
    return { body: await call(admin, { ...change, ...where, changedBy: callerOf(request) }) };
  };
}

const getFailures: Endpoint = async (request, admin) => ({
  body: await admin.failures(take(readFailuresQuery(queryOf(request)))),
});

const getStatistics: Endpoint = async (request, admin) => ({
  body: await admin.statistics({
    definition: definitionOf(request),
    ...take(readStatisticsQuery(queryOf(request))),
  }),
});

const pausing = { place: ofDefinition, read: readOperatorRequest };
const scheduling = { place: ofDefinition, read: readScheduleRequest };
const batching = { place: ofBatch, read: readOperatorRequest };
const watermarkBody = (request: HttpRequest) => bodyOf(request, limits.httpTaskBytesMax);

const reads = {
  "api-definitions": shows(async (admin) => ({ definitions: await admin.definitions() })),
  "api-definition": shows(async (admin, request) => {
    const [definition] = await admin.definitions(definitionOf(request));
    return definition;
  }),
  "api-task": shows((admin, { params }) => admin.explain(take(readTaskId(params["id"])))),
  "api-batch": shows((admin, request) => admin.batch(ofBatch(request).batchId)),
  "api-tasks": lists(
    { member: "tasks", place: ofDefinition, query: readListTasksQuery },
    (admin, query) => admin.tasks(query),
  ),
  "api-shared-limits": lists(
    { member: "sharedLimits", query: readListSharedLimitsQuery },
    (admin, query) => admin.sharedLimits(query),
  ),
  "api-groups": lists({ member: "groups", query: tasks.readListGroupsQuery }, (admin, query) =>
    admin.groups(query),
  ),
  "api-schedules": lists({ member: "schedules", query: readListSchedulesQuery }, (admin, query) =>
    admin.schedules(query),
  ),
  "api-watermarks": lists(
    { member: "watermarks", query: readListWatermarksQuery },
    (admin, query) => admin.watermarks(query),
  ),
  "api-executions": lists(
    { member: "executions", query: readListExecutionsQuery },
    (admin, query) => admin.executions(query),
  ),
  "api-audit": lists(
    { member: "entries", query: readListAuditQuery, top: auditListMax },
    (admin, query) => admin.audit(query),
  ),
  "api-failures": getFailures,
  "api-pace": shows((admin, request) => admin.pace(definitionOf(request))),
  "api-statistics": getStatistics,
  "api-summaries": shows(async (admin) => ({ definitions: await admin.summaries() })),
  "api-stop-state": shows(async (admin) => ({ stop: await admin.stopState() })),
  "api-batches": lists(
    { member: "batches", query: readListBatchesQuery, top: batchListMax },
    (admin, query) => admin.batches(query),
  ),
} as const;

const writes = {
  "api-enqueue": enqueueTasks,
  "api-limit": changes({ place: ofDefinition, read: readLimitRequest }, (admin, change) =>
    admin.setLimit(change),
  ),
  "api-rate": changes({ place: ofDefinition, read: readRateRequest }, (admin, change) =>
    admin.setRate(change),
  ),
  "api-owner": changes({ place: ofDefinition, read: readOwnerRequest }, (admin, change) =>
    admin.setOwner(change),
  ),
  "api-shared-limit": changes({ place: ofSharedLimit, read: readLimitRequest }, (admin, change) =>
    admin.setSharedLimit(change),
  ),
  "api-pause": changes(pausing, (admin, change) => admin.pause(change)),
  "api-resume": changes(pausing, (admin, change) => admin.resume(change)),
  "api-group": changes({ place: ofDefinition, read: tasks.readGroupRequest }, (admin, change) =>
    admin.setGroup(change),
  ),
  "api-schedule-pause": changes(scheduling, (admin, change) => admin.pauseSchedule(change)),
  "api-schedule-resume": changes(scheduling, (admin, change) => admin.resumeSchedule(change)),
  "api-schedule-run": changes(
    { place: ofDefinition, read: readRunScheduleRequest },
    (admin, change) => admin.runSchedule(change),
  ),
  "api-watermark": changes(
    { place: ofDefinition, read: readWatermarkRequest, body: watermarkBody },
    (admin, change) => admin.setWatermark(change),
  ),
  "api-cancel": changes({ read: tasks.readCancelRequest, body: bodyWithIds }, (admin, change) =>
    admin.cancel(change),
  ),
  "api-redrive": changes({ read: tasks.readRedriveRequest, body: bodyWithIds }, (admin, change) =>
    admin.redrive(change),
  ),
  "api-reschedule": changes(
    { read: tasks.readRescheduleRequest, body: bodyWithIds },
    (admin, change) => admin.reschedule(change),
  ),
  "api-redrive-failures": changes({ read: readRedriveFailuresRequest }, (admin, change) =>
    admin.redriveFailures(change),
  ),
  "api-stop": changes({ read: readOperatorRequest }, (admin, change) => admin.stopAll(change)),
  "api-resume-all": changes({ read: readOperatorRequest }, (admin, change) =>
    admin.resumeAll(change),
  ),
  "api-batch-resume": changes(batching, (admin, change) => admin.resumeBatch(change)),
  "api-batch-cancel": changes(batching, (admin, change) => admin.cancelBatch(change)),
} as const;

/** What the app's routes depend on. */
export interface EndpointOptions {
  /** Are there the routes of operators? */
  readonly operatorApi: boolean;
  /** Callers sign in, and send no key. */
  readonly isSignIn: boolean;
  readonly routes: readonly DescribedRoute[];
}

/** The endpoint of each route, by the name of its function. */
export function createEndpoints(options: EndpointOptions): Readonly<Record<RouteName, Endpoint>> {
  return {
    ...reads,
    ...writes,
    "api-status": createGetStatus(options),
    "api-openapi": shows(() => Promise.resolve(makeDocument(options.routes, options))),
  };
}
