/**
 * The HTTP API in one table: read models and operator commands over shared/admin. All routes want a function key.
 * The host puts `api/` before each route.
 */
import type { HttpMethod } from "@azure/functions";
import type { Admin } from "../../shared/admin/create-admin";
import {
  getDefinition,
  listDefinitions,
  pauseDefinition,
  putLimit,
  resumeDefinition,
} from "./definitions";
import { listExecutions } from "./executions";
import { createHandler } from "./respond";
import type { ApiHandler, Endpoint } from "./respond";
import { getStatus } from "./status";
import { enqueueTasks, getTask, listTasks } from "./tasks";

/** One route as `app.http` takes it. */
export interface ApiRoute {
  /** Name of the function. */
  readonly name: string;
  readonly methods: readonly HttpMethod[];
  /** Without the host's `api/`. */
  readonly route: string;
  readonly authLevel: "function";
  readonly handler: ApiHandler;
}

const endpoints: readonly (readonly [string, HttpMethod, string, Endpoint])[] = [
  ["api-status", "GET", "status", getStatus],
  ["api-definitions", "GET", "definitions", listDefinitions],
  ["api-definition", "GET", "definitions/{name}", getDefinition],
  ["api-limit", "PUT", "definitions/{name}/limit", putLimit],
  ["api-pause", "POST", "definitions/{name}/pause", pauseDefinition],
  ["api-resume", "POST", "definitions/{name}/resume", resumeDefinition],
  ["api-tasks", "GET", "definitions/{name}/tasks", listTasks],
  ["api-enqueue", "POST", "definitions/{name}/tasks", enqueueTasks],
  ["api-executions", "GET", "executions", listExecutions],
  ["api-task", "GET", "tasks/{id}", getTask],
];

/** All routes. `admin` makes the admin, or gives the one that is there; it is first called by the first request. */
export function createApiRoutes(admin: () => Promise<Admin>): ApiRoute[] {
  return endpoints.map(([name, method, route, endpoint]) => ({
    name,
    methods: [method],
    route,
    authLevel: "function",
    handler: createHandler(admin, endpoint),
  }));
}
