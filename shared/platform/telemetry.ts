import { createRequire } from "node:module";
import type { TokenCredential } from "@azure/identity";
import type * as identityPackage from "@azure/identity";
import type * as openTelemetry from "@opentelemetry/api";
import type * as tediousPackage from "@opentelemetry/instrumentation-tedious";
import type * as insightsPackage from "applicationinsights";
import { isInstalled, loadPackage } from "../core/load-package";
import type { Logger } from "../ports/logger";
import { noTelemetry } from "../ports/telemetry";
import type { Telemetry } from "../ports/telemetry";
import { currentEnvironment } from "../settings/load-settings";
import type { TelemetrySettings } from "../settings/settings";
import { OpenTelemetry } from "./open-telemetry";

/**
 * Application Insights behind the Telemetry port. Its packages are loaded here and nowhere else, and only when a
 * connection string is set: they cost half a second and 80 MB (docs/reference/telemetry.md).
 */
const requireLater = createRequire(__filename);

/** The instrumented packages; where one is loaded already, its functions and classes are changed in place. */
const instrumented = ["node:http", "node:https", "pg", "tedious"];

/** Spans per second and process beyond which traces are left out: the bound of what telemetry costs. */
const spansPerSecond = 20;

/**
 * Starts telemetry for this process: call it once, before the first connection to the database is opened. Without
 * settings nothing is loaded. When it can't be started the reason is logged once and the app runs without: never throws.
 */
export async function loadTelemetry(
  settings: TelemetrySettings | null,
  logger: Logger,
): Promise<Telemetry> {
  if (settings === null) return noTelemetry;
  try {
    return start(settings, logger);
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    // Messages may quote the connection string, which holds a key.
    const reason = message.replaceAll(settings.connectionString, "(connection string)");
    logger.warn("telemetry could not be started; the app runs without", { reason, type: name });
    return noTelemetry;
  }
}

function start(settings: TelemetrySettings, logger: Logger): Telemetry {
  const { useAzureMonitor, flushAzureMonitor } =
    loadPackage<typeof insightsPackage>("applicationinsights");
  const api = requireLater("@opentelemetry/api") as typeof openTelemetry;
  nameRole();
  useAzureMonitor(monitorOptions(settings));
  if (isInstalled("tedious")) instrumentTedious(api, logger);
  instrumentLoaded();
  return new OpenTelemetry({ api, send: flushAzureMonitor });
}

/** An app on PostgreSQL has no tedious, and needs no package that instruments it. */
function instrumentTedious(api: typeof openTelemetry, logger: Logger): void {
  const name = "@opentelemetry/instrumentation-tedious";
  if (!isInstalled(name)) {
    logger.warn(`calls of SQL Server are missing in the trace: run \`npm install ${name}\``);
    return;
  }
  const { TediousInstrumentation } = loadPackage<typeof tediousPackage>(name);
  new TediousInstrumentation().setTracerProvider(api.trace.getTracerProvider());
}

type MonitorOptions = NonNullable<Parameters<typeof insightsPackage.useAzureMonitor>[0]>;

function monitorOptions(settings: TelemetrySettings): MonitorOptions {
  // The instrumentation's own options are wider than the type of the distribution says.
  const postgreSql = {
    enabled: true,
    // Texts of statements, never values of parameters.
    enhancedDatabaseReporting: false,
    // Two more items per connection that say nothing.
    ignoreConnectSpans: true,
  };
  const http = {
    enabled: true,
    // The host writes the item of a request.
    ignoreIncomingRequestHook: () => true,
    requestHook: hideQuery,
  };
  return {
    azureMonitorExporterOptions: {
      connectionString: settings.connectionString,
      // An instance's disk goes with it; what can't be sent isn't worth a second way to leave data behind.
      disableOfflineStorage: true,
      ...(settings.usesIdentity ? { credential: openCredential(settings.clientId) } : {}),
    },
    instrumentationOptions: {
      http,
      postgreSql,
      // Queues and storage are seen as HTTP; the others aren't used.
      azureSdk: { enabled: false },
      mongoDb: { enabled: false },
      mySql: { enabled: false },
      redis: { enabled: false },
      redis4: { enabled: false },
    },
    // The host sends these of the instance, and console output, and exceptions of invocations.
    enableLiveMetrics: false,
    enablePerformanceCounters: false,
    enableAutoCollectExceptions: false,
    // Counted by the service from the items, sampling included.
    enableStandardMetrics: false,
    tracesPerSecond: spansPerSecond,
  };
}

/** A query may hold keys and people's data: only its presence is told. */
function hideQuery(span: openTelemetry.Span): void {
  const { attributes } = span as openTelemetry.Span & {
    readonly attributes?: openTelemetry.Attributes;
  };
  for (const name of ["http.url", "http.target", "url.full"]) {
    const value = attributes?.[name];
    if (typeof value !== "string") continue;
    span.setAttribute(name, value.replace(/[?#].*$/s, ""));
  }
}

function openCredential(clientId: string | null): TokenCredential {
  const { ManagedIdentityCredential } = loadPackage<typeof identityPackage>("@azure/identity");
  return clientId === null
    ? new ManagedIdentityCredential()
    : new ManagedIdentityCredential({ clientId });
}

/** The role's name in Application Insights; the environment is where OpenTelemetry's resource takes it from. */
function nameRole(): void {
  const { OTEL_SERVICE_NAME, WEBSITE_SITE_NAME } = currentEnvironment();
  process.env["OTEL_SERVICE_NAME"] = OTEL_SERVICE_NAME ?? WEBSITE_SITE_NAME ?? "taskgate";
}

/** A package required before the instrumentation began is instrumented when it is required once more. */
function instrumentLoaded(): void {
  for (const name of instrumented) {
    if (!name.startsWith("node:") && !isInstalled(name)) continue;
    const isLoaded =
      name.startsWith("node:") || requireLater.cache[requireLater.resolve(name)] !== undefined;
    if (isLoaded) requireLater(name);
  }
}
