/**
 * The HTTP API in one table: read models and operator commands over shared/admin. All routes want a function key, or a
 * role of the signed-in user: a reader's for routes that only read. The host puts `api/` before each route. A setting
 * leaves out what only operators may do.
 */
import { createRequire } from "node:module";
import type { HttpMethod } from "@azure/functions";
import type { Admin } from "../../admin/create-admin";
import type { SignInSettings } from "../../settings/settings";
import type * as Endpoints from "./endpoints";
import type { RouteName } from "./openapi/descriptions";
import { refuseUnaskedChange } from "./other-site";
import { ReadTurns } from "./read-turns";
import { createHandler } from "./respond";
import type { ApiHandler, Endpoint } from "./respond";
import { admit } from "./sign-in";

const requireLater = createRequire(__filename);

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
type Entry = readonly [name: RouteName, method: HttpMethod, route: string, right?: "operator"];

const entries: readonly Entry[] = [
  ["api-status", "GET", "status"],
  ["api-definitions", "GET", "definitions"],
  ["api-definition", "GET", "definitions/{name}"],
  ["api-limit", "PUT", "definitions/{name}/limit", "operator"],
  ["api-rate", "PUT", "definitions/{name}/rate", "operator"],
  ["api-owner", "PUT", "definitions/{name}/owner", "operator"],
  ["api-shared-limits", "GET", "shared-limits"],
  ["api-shared-limit", "PUT", "shared-limits/{name}", "operator"],
  ["api-pause", "POST", "definitions/{name}/pause", "operator"],
  ["api-resume", "POST", "definitions/{name}/resume", "operator"],
  ["api-tasks", "GET", "definitions/{name}/tasks"],
  ["api-enqueue", "POST", "definitions/{name}/tasks"],
  ["api-group", "PUT", "definitions/{name}/group", "operator"],
  ["api-groups", "GET", "groups"],
  ["api-schedules", "GET", "schedules"],
  ["api-schedule-pause", "POST", "definitions/{name}/schedules/pause", "operator"],
  ["api-schedule-resume", "POST", "definitions/{name}/schedules/resume", "operator"],
  ["api-schedule-run", "POST", "definitions/{name}/schedules/run"],
  ["api-watermark", "PUT", "definitions/{name}/watermark", "operator"],
  ["api-watermarks", "GET", "watermarks"],
  ["api-audit", "GET", "audit"],
  ["api-failures", "GET", "failures"],
  ["api-redrive-failures", "POST", "failures/redrive", "operator"],
  ["api-pace", "GET", "definitions/{name}/pace"],
  ["api-statistics", "GET", "definitions/{name}/statistics"],
  ["api-summaries", "GET", "statistics"],
  ["api-stop-state", "GET", "stop"],
  ["api-stop", "POST", "stop", "operator"],
  ["api-resume-all", "POST", "resume", "operator"],
  ["api-executions", "GET", "executions"],
  ["api-task", "GET", "tasks/{id}"],
  ["api-cancel", "POST", "tasks/cancel", "operator"],
  ["api-redrive", "POST", "tasks/redrive", "operator"],
  ["api-reschedule", "POST", "tasks/reschedule", "operator"],
  ["api-batches", "GET", "batches"],
  ["api-batch", "GET", "batches/{id}"],
  ["api-batch-resume", "POST", "batches/{id}/resume", "operator"],
  ["api-batch-cancel", "POST", "batches/{id}/cancel", "operator"],
  ["api-openapi", "GET", "openapi.json"],
];

/** What the app is set to. */
export interface ApiOptions {
  /** Are there the routes of operators? */
  readonly operatorApi: boolean;
  /** How callers are known; default: by the key that the host wants. */
  readonly signIn?: SignInSettings;
  /** Aborted when the app ends; default never. */
  readonly ending?: AbortSignal;
}

/** A read takes milliseconds; a page asks for some of them together. */
const readsAtOnce = 2;

const byKeys: SignInSettings = { apiSignIn: "keys", hasPlatformSignIn: false };

/** The host wants no key only where both the app's setting and the platform say that callers sign in. */
export function authLevelOf({ apiSignIn, hasPlatformSignIn }: SignInSettings): AuthLevel {
  return apiSignIn === "entra" && hasPlatformSignIn ? "anonymous" : "function";
}

/**
 * All routes. `admin` makes the admin, or gives the one that is there; it is first called by the first request. What routes
 * do is loaded by it, too.
 */
export function createApiRoutes(
  admin: () => Promise<Admin>,
  { operatorApi, signIn = byKeys, ending }: ApiOptions = { operatorApi: true },
): ApiRoute[] {
  const present = entries.filter(([, , , right]) => operatorApi || right !== "operator");
  const authLevel = authLevelOf(signIn);
  const readTurns = new ReadTurns(readsAtOnce);
  let endpoints: Readonly<Record<RouteName, Endpoint>> | null = null;
  const endpointOf = (name: RouteName): Endpoint => {
    const { createEndpoints } = requireLater("./endpoints") as typeof Endpoints;
    const routes = present.map(([name, method, route]) => ({ name, method, route }));
    endpoints ??= createEndpoints({ operatorApi, isSignIn: authLevel === "anonymous", routes });
    return endpoints[name];
  };
  return present.map(([name, method, route]) => ({
    name,
    methods: [method],
    route,
    authLevel,
    handler: createHandler(
      {
        admin,
        letIn: (request) => {
          admit(request, method === "GET" ? "read" : "operate", signIn);
          if (method !== "GET") refuseUnaskedChange(request);
        },
        readTurns,
        ...(ending === undefined ? {} : { ending }),
      },
      (...asked) => endpointOf(name)(...asked),
    ),
  }));
}
