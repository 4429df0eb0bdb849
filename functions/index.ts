import { app } from "@azure/functions";
import { createApiRoutes } from "./api/routes";
import { dashboardRoutes } from "./dashboard/routes";
import { ingest } from "./ingest";
import { run } from "./run";
import { endRuntime, getRuntime } from "./runtime";
import { sweep } from "./sweep";
import { createTraceHook } from "./telemetry-hooks";

/*
 * Everything that Azure calls, in one table. The only file the host loads; a test compares the registered set with it.
 * `AzureWebJobsStorage` and `%..%` are looked up by the host in the app settings.
 */
const storage = "AzureWebJobsStorage";

app.storageQueue("run", { queueName: "taskgate-hints", connection: storage, handler: run });
app.storageQueue("ingest", { queueName: "taskgate-ingest", connection: storage, handler: ingest });
app.timer("sweep", { schedule: "%TASKGATE_SWEEP_SCHEDULE%", handler: sweep });
for (const route of [
  ...createApiRoutes(async () => (await getRuntime()).admin),
  ...dashboardRoutes,
]) {
  app.http(route.name, {
    methods: [...route.methods],
    route: route.route,
    authLevel: route.authLevel,
    handler: route.handler,
  });
}
app.hook.preInvocation(createTraceHook(async () => (await getRuntime()).environment.telemetry));
app.hook.appTerminate(endRuntime);
