import { app } from "@azure/functions";
import { loadTriggerSettings } from "../shared/settings/load-settings";
import { createApiRoutes } from "./api/routes";
import { createDashboardRoutes } from "./dashboard/routes";
import { ingest } from "./ingest";
import { counted } from "./invocations";
import { run } from "./run";
import { endRuntime, getRuntime } from "./runtime";
import { getServices } from "./services";
import { sweep } from "./sweep";
import { createTraceHook } from "./telemetry-hooks";

/*
 * Everything that Azure calls, in one table. The only file the host loads; a test compares the registered set with it.
 * `AzureWebJobsStorage` is looked up by the host in the app settings.
 */
const storage = "AzureWebJobsStorage";
const { hintQueue, ingestQueue, sweepSchedule, operatorApi, signIn } = loadTriggerSettings();
const dashboardRoutes = createDashboardRoutes(signIn);

app.storageQueue("run", { queueName: hintQueue, connection: storage, handler: run });
app.storageQueue("ingest", { queueName: ingestQueue, connection: storage, handler: ingest });
app.timer("sweep", { schedule: sweepSchedule, handler: sweep });
for (const route of [
  ...createApiRoutes(async () => (await getRuntime()).admin, { operatorApi, signIn }),
  ...dashboardRoutes,
]) {
  app.http(route.name, {
    methods: [...route.methods],
    route: route.route,
    authLevel: route.authLevel,
    handler: (request, context) => counted(() => route.handler(request, context)),
  });
}
const untraced = dashboardRoutes.filter((route) => route.isStatic).map((route) => route.name);
app.hook.preInvocation(createTraceHook(async () => (await getServices()).telemetry, untraced));
app.hook.appTerminate(() => endRuntime());
