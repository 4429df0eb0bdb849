/**
 * The HTTP API in one table: read models and operator commands over shared/admin. All routes want a function key, or a
 * role of the signed-in user: a reader's for routes that only read. The host puts `api/` before each route. A setting
 * leaves out what only operators may do.
 */
import type { HttpMethod, HttpRequest } from "@azure/functions";
import type { Admin } from "../../admin/create-admin";
import type { SignInSettings } from "../../settings/settings";
import { listAudit } from "./audit";
import { cancelBatch, getBatch, listBatches, resumeBatch } from "./batches";
import {
  getDefinition,
  listDefinitions,
  pauseDefinition,
  putLimit,
  putOwner,
  putRate,
  resumeDefinition,
} from "./definitions";
import { listExecutions } from "./executions";
import { listGroups, putGroup } from "./groups";
import { listSharedLimits, putSharedLimit } from "./shared-limits";
import { refuseQuery } from "./read-request";
import { createHandler } from "./respond";
import type { Answer, ApiHandler, Endpoint } from "./respond";
import { descriptions } from "./openapi/descriptions";
import type { RouteName } from "./openapi/descriptions";
import { makeDocument } from "./openapi/document";
import { listSchedules, pauseSchedule, resumeSchedule } from "./schedules";
import { admit } from "./sign-in";
import { createGetStatus } from "./status";
import { cancelTasks, redriveTasks, rescheduleTasks } from "./task-actions";
import { enqueueTasks, getTask, listTasks } from "./tasks";
import { listWatermarks, putWatermark } from "./watermarks";

/** Callers that the host lets through: those with a key, or all, where the platform has checked a sign-in before. */
export type AuthLevel = "anonymous" | "function";

/** One route as `app.http` takes it. */
export interface ApiRoute {
  /** Name of the function. */
  readonly name: string;
  readonly methods: readonly HttpMethod[];
  /** Without the host's `api/`. */
  readonly route: string;
  readonly authLevel: AuthLevel;
  readonly handler: ApiHandler;
}

/** `operator`: it calls a procedure that only TaskgateOperator may execute; a test compares. */
type Entry = readonly [
  name: RouteName,
  method: HttpMethod,
  route: string,
  endpoint: Endpoint,
  right?: "operator",
];

const endpoints: readonly Entry[] = [
  ["api-definitions", "GET", "definitions", listDefinitions],
  ["api-definition", "GET", "definitions/{name}", getDefinition],
  ["api-limit", "PUT", "definitions/{name}/limit", putLimit, "operator"],
  ["api-rate", "PUT", "definitions/{name}/rate", putRate, "operator"],
  ["api-owner", "PUT", "definitions/{name}/owner", putOwner, "operator"],
  ["api-shared-limits", "GET", "shared-limits", listSharedLimits],
  ["api-shared-limit", "PUT", "shared-limits/{name}", putSharedLimit, "operator"],
  ["api-pause", "POST", "definitions/{name}/pause", pauseDefinition, "operator"],
  ["api-resume", "POST", "definitions/{name}/resume", resumeDefinition, "operator"],
  ["api-tasks", "GET", "definitions/{name}/tasks", listTasks],
  ["api-enqueue", "POST", "definitions/{name}/tasks", enqueueTasks],
  ["api-group", "PUT", "definitions/{name}/group", putGroup, "operator"],
  ["api-groups", "GET", "groups", listGroups],
  ["api-schedules", "GET", "schedules", listSchedules],
  ["api-schedule-pause", "POST", "definitions/{name}/schedules/pause", pauseSchedule, "operator"],
  [
    "api-schedule-resume",
    "POST",
    "definitions/{name}/schedules/resume",
    resumeSchedule,
    "operator",
  ],
  ["api-watermark", "PUT", "definitions/{name}/watermark", putWatermark, "operator"],
  ["api-watermarks", "GET", "watermarks", listWatermarks],
  ["api-audit", "GET", "audit", listAudit],
  ["api-executions", "GET", "executions", listExecutions],
  ["api-task", "GET", "tasks/{id}", getTask],
  ["api-cancel", "POST", "tasks/cancel", cancelTasks, "operator"],
  ["api-redrive", "POST", "tasks/redrive", redriveTasks, "operator"],
  ["api-reschedule", "POST", "tasks/reschedule", rescheduleTasks, "operator"],
  ["api-batches", "GET", "batches", listBatches],
  ["api-batch", "GET", "batches/{id}", getBatch],
  ["api-batch-resume", "POST", "batches/{id}/resume", resumeBatch, "operator"],
  ["api-batch-cancel", "POST", "batches/{id}/cancel", cancelBatch, "operator"],
];

/** What the app is set to. */
export interface ApiOptions {
  /** Are there the routes of operators? */
  readonly operatorApi: boolean;
  /** How callers are known; default: by the key that the host wants. */
  readonly signIn?: SignInSettings;
}

const byKeys: SignInSettings = { apiSignIn: "keys", hasPlatformSignIn: false };

/** The host wants no key only where both the app's setting and the platform say that callers sign in. */
export function authLevelOf({ apiSignIn, hasPlatformSignIn }: SignInSettings): AuthLevel {
  return apiSignIn === "entra" && hasPlatformSignIn ? "anonymous" : "function";
}

/** All routes. `admin` makes the admin, or gives the one that is there; it is first called by the first request. */
export function createApiRoutes(
  admin: () => Promise<Admin>,
  options: ApiOptions = { operatorApi: true },
): ApiRoute[] {
  const status: Entry = ["api-status", "GET", "status", createGetStatus(options)];
  const { signIn = byKeys } = options;
  const openApi: Entry = ["api-openapi", "GET", "openapi.json", getDocument];
  const entries = [status, ...endpoints, openApi].filter(
    ([, , , , right]) => options.operatorApi || right !== "operator",
  );
  /** Made when it is asked for. */
  function getDocument(request: HttpRequest): Promise<Answer> {
    refuseQuery(request);
    const described = entries.map(([name, method, route]) => ({
      ...{ name, method, route },
      description: descriptions[name],
    }));
    const isSignIn = authLevelOf(signIn) === "anonymous";
    return Promise.resolve({ body: makeDocument(described, { isSignIn }) });
  }
  return entries.map(([name, method, route, endpoint]) => ({
    name,
    methods: [method],
    route,
    authLevel: authLevelOf(signIn),
    handler: createHandler(admin, endpoint, (request) => {
      admit(request, method === "GET" ? "read" : "operate", signIn);
    }),
  }));
}
