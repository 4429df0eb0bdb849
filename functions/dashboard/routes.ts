/**
 * The status page: static files, open to everybody because they hold no data, and what the page shows beyond the API.
 * Data comes from the routes of functions/api, which want a function key on Azure; the page asks for it.
 */
import type { HttpMethod } from "@azure/functions";
import type { ApiHandler } from "../api/respond";
import { createHandler } from "../api/respond";
import { getRuntime } from "../runtime";
import { serveAsset } from "./assets";
import { getSampleResults } from "./sample-results";

/** One route as `app.http` takes it. */
export interface DashboardRoute {
  /** Name of the function. */
  readonly name: string;
  readonly methods: readonly HttpMethod[];
  /** Without the host's `api/`. */
  readonly route: string;
  readonly authLevel: "anonymous" | "function";
  /** Files alone: a visitor loads no telemetry and never wakes the database. */
  readonly isStatic: boolean;
  readonly handler: ApiHandler;
}

/** All routes of the page. */
export const dashboardRoutes: readonly DashboardRoute[] = [
  {
    name: "dashboard",
    methods: ["GET"],
    route: "dashboard/{file?}",
    authLevel: "anonymous",
    isStatic: true,
    handler: serveAsset,
  },
  {
    name: "sample-results",
    methods: ["GET"],
    route: "sample/results",
    authLevel: "function",
    isStatic: false,
    handler: createHandler(async () => (await getRuntime()).admin, getSampleResults),
  },
];
