/**
 * The dashboard: static files, open to all because they hold no data, and its data beyond the API.
 * Data comes from the routes of shared/functions/api, which want a function key on Azure, for which the page asks, or a sign-in.
 */
import type { SignInSettings } from "../../settings/settings";
import { createHandler } from "../api/respond";
import { authLevelOf } from "../api/routes";
import type { ApiRoute } from "../api/routes";
import { admit } from "../api/sign-in";
import type { AppProcess } from "../runtime";
import { serveAsset } from "./assets";
import { createGetResults } from "./app-results";

/** One route as `app.http` takes it. */
export interface DashboardRoute extends ApiRoute {
  /** Files alone: a visitor loads no telemetry and never wakes the database. */
  readonly isStatic: boolean;
}

/** All routes of the page. */
export const createDashboardRoutes = (
  process: AppProcess,
  signIn: SignInSettings,
): readonly DashboardRoute[] => [
  {
    name: "dashboard",
    methods: ["GET"],
    route: "dashboard/{file?}",
    authLevel: "anonymous",
    isStatic: true,
    handler: serveAsset,
  },
  {
    name: "app-results",
    methods: ["GET"],
    route: "results",
    authLevel: authLevelOf(signIn),
    isStatic: false,
    handler: createHandler(
      {
        admin: async () => (await process.runtime()).admin,
        letIn: (request) => {
          admit(request, "read", signIn);
        },
        ending: process.invocations.ending,
      },
      createGetResults(process),
    ),
  },
];
