import type { HttpRequest } from "@azure/functions";
import type { DefinitionReport } from "../../admin/app-actions";
import { readOwnerRequest } from "../../admin/app-requests";
import { readBatchId } from "../../admin/batch-requests";
import type { Admin } from "../../admin/create-admin";
import { readRedriveFailuresRequest } from "../../admin/failure-requests";
import {
  readListSharedLimitsQuery,
  readRateRequest,
  readSharedLimitName,
  readSharedLimitRequest,
} from "../../admin/limit-requests";
import { take } from "../../admin/read-result";
import {
  readLimitRequest,
  readListExecutionsQuery,
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
import { changes, lists, shows } from "./endpoint-kinds";
import { listAudit, listBatches, listFailures, listTasks } from "./long-lists";
import type { RouteName } from "./openapi/descriptions";
import { makeDocument } from "./openapi/document";
import type { DescribedRoute } from "./openapi/document";
import { showExplained, showSchedule } from "./payloads";
import { bodyOf, bodyWithIds } from "./read-body";
import { definitionOf, nameIn, queryOf } from "./read-request";
import type { Endpoint } from "./respond";
import {
  ownerPlace,
  groupPlace,
  limitPlace,
  pausePlace,
  ratePlace,
  schedulePlace,
  sharedLimitPlace,
  watermarkPlace,
} from "./settings";
import { tagDefinition, tagGroup, tagSchedule, tagSharedLimit, tagWatermark } from "./settings-tag";
import { createGetStatus } from "./status";
import { enqueueTasks } from "./tasks";

/** What each route does. Loaded with the first request: its schemas cost more than all else that a start loads. */

const ofDefinition = (request: HttpRequest) => ({ definition: definitionOf(request) });
const ofSharedLimit = (request: HttpRequest) => ({
  name: take(readSharedLimitName(nameIn(request))),
});
const ofBatch = ({ params }: HttpRequest) => ({ batchId: take(readBatchId(params["id"])) });

/** Throws where it is unknown. */
async function theDefinition(admin: Admin, request: HttpRequest): Promise<DefinitionReport> {
  const [definition] = await admin.definitions(definitionOf(request));
  return definition as DefinitionReport;
}

const getStatistics: Endpoint = async (request, admin) => ({
  body: await admin.statistics({
    definition: definitionOf(request),
    ...take(readStatisticsQuery(queryOf(request))),
  }),
});

const pausing = { place: ofDefinition, read: readOperatorRequest, settings: pausePlace };
const scheduling = { place: ofDefinition, read: readScheduleRequest, settings: schedulePlace };
const batching = { place: ofBatch, read: readOperatorRequest };
const watermarkBody = (request: HttpRequest) => bodyOf(request, limits.httpTaskBytesMax);

const reads = {
  "api-definitions": shows(async (admin) => ({
    definitions: (await admin.definitions()).map((each) => ({
      ...each,
      etag: tagDefinition(each).tag,
    })),
  })),
  "api-definition": shows(theDefinition, tagDefinition),
  "api-task": shows(async (admin, request) =>
    showExplained(await admin.explain(take(readTaskId(request.params["id"]))), request),
  ),
  "api-batch": shows((admin, request) => admin.batch(ofBatch(request).batchId)),
  "api-tasks": listTasks,
  "api-shared-limits": lists({
    list: "sharedLimits",
    query: readListSharedLimitsQuery,
    rows: (admin, query) => admin.sharedLimits(query),
    keyOf: ({ name }) => name,
    tag: tagSharedLimit,
  }),
  "api-groups": lists({
    list: "groups",
    query: tasks.readListGroupsQuery,
    rows: (admin, query) => admin.groups(query),
    keyOf: ({ definition, key }) => [definition, key],
    tag: tagGroup,
  }),
  "api-schedules": lists({
    list: "schedules",
    query: readListSchedulesQuery,
    rows: (admin, query) => admin.schedules(query),
    keyOf: ({ id }) => id,
    tag: tagSchedule,
    show: showSchedule,
  }),
  "api-watermarks": lists({
    list: "watermarks",
    query: readListWatermarksQuery,
    rows: (admin, query) => admin.watermarks(query),
    keyOf: ({ definition, name }) => [definition, name],
    tag: tagWatermark,
  }),
  "api-executions": lists({
    list: "executions",
    query: readListExecutionsQuery,
    rows: (admin, query) => admin.executions(query),
    keyOf: ({ execution }) => execution,
  }),
  "api-audit": listAudit,
  "api-failures": listFailures,
  "api-pace": shows((admin, request) => admin.pace(definitionOf(request))),
  "api-statistics": getStatistics,
  "api-summaries": shows(async (admin) => ({ definitions: await admin.summaries() })),
  "api-stop-state": shows(async (admin) => ({ stop: await admin.stopState() })),
  "api-batches": listBatches,
} as const;

const writes = {
  "api-enqueue": enqueueTasks,
  "api-limit": changes(
    { place: ofDefinition, read: readLimitRequest, settings: limitPlace },
    (admin, change) => admin.setLimit(change),
  ),
  "api-rate": changes(
    { place: ofDefinition, read: readRateRequest, settings: ratePlace },
    (admin, change) => admin.setRate(change),
  ),
  "api-owner": changes(
    { place: ofDefinition, read: readOwnerRequest, settings: ownerPlace },
    (admin, change) => admin.setOwner(change),
  ),
  "api-shared-limit": changes(
    { place: ofSharedLimit, read: readSharedLimitRequest, settings: sharedLimitPlace },
    (admin, change) => admin.setSharedLimit(change),
  ),
  "api-pause": changes(pausing, (admin, change) => admin.pause(change)),
  "api-resume": changes(pausing, (admin, change) => admin.resume(change)),
  "api-group": changes(
    { place: ofDefinition, read: tasks.readGroupRequest, settings: groupPlace },
    (admin, change) => admin.setGroup(change),
  ),
  "api-schedule-pause": changes(scheduling, (admin, change) => admin.pauseSchedule(change)),
  "api-schedule-resume": changes(scheduling, (admin, change) => admin.resumeSchedule(change)),
  "api-schedule-run": changes(
    { place: ofDefinition, read: readRunScheduleRequest },
    (admin, change) => admin.runSchedule(change),
  ),
  "api-watermark": changes(
    {
      place: ofDefinition,
      read: readWatermarkRequest,
      body: watermarkBody,
      settings: watermarkPlace,
    },
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
