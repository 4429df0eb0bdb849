import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Cron } from "croner";
import { SettingsError } from "../../../shared/core/errors";
import { loadSettings, loadTriggerSettings } from "../../../shared/settings/load-settings";
import { settingsTable, type Settings } from "../../../shared/settings/settings";
import {
  listAt,
  resourcesOf,
  textAt,
  theOne,
  valueAt,
  type Deployment,
  type Json,
  type Policy,
} from "./snapshot";

/* The deployment has all that the program reads, listens to and measures. */

const root = join(__dirname, "../../..");
const knownSettings: ReadonlySet<string> = new Set(settingsTable.map(({ name }) => name));

/** Read by the Functions host for its leases and its diagnostic events, although the program could do without them. */
export const hostSettings: readonly string[] = [
  "AzureWebJobsStorage__credential",
  "AzureWebJobsStorage__accountName",
  "AzureWebJobsStorage__blobServiceUri",
  "AzureWebJobsStorage__queueServiceUri",
  "AzureWebJobsStorage__tableServiceUri",
];

/** Settings of other plans that break or mislead on Flex Consumption. */
const notOnFlex: ReadonlySet<string> = new Set([
  "ENABLE_ORYX_BUILD",
  "FUNCTIONS_EXTENSION_VERSION",
  "FUNCTIONS_WORKER_RUNTIME",
  "SCM_DO_BUILD_DURING_DEPLOYMENT",
  "TZ",
  "WEBSITE_CONTENTAZUREFILECONNECTIONSTRING",
  "WEBSITE_CONTENTSHARE",
  "WEBSITE_NODE_DEFAULT_VERSION",
  "WEBSITE_RUN_FROM_PACKAGE",
  "WEBSITE_TIME_ZONE",
  "WEBSITE_VNET_ROUTE_ALL",
]);

/** What Azure puts in the place of an expression: shapes that the program's own checks of settings accept. */
const clientId = "11111111-1111-1111-1111-111111111111";
const answers: Readonly<Record<string, string>> = {
  "Microsoft.ManagedIdentity/userAssignedIdentities clientId": clientId,
  "Microsoft.Storage/storageAccounts primaryEndpoints.blob": "https://st.blob.core.windows.net/",
  "Microsoft.Storage/storageAccounts primaryEndpoints.queue": "https://st.queue.core.windows.net/",
  "Microsoft.Storage/storageAccounts primaryEndpoints.table": "https://st.table.core.windows.net/",
  "Microsoft.Sql/servers fullyQualifiedDomainName": "sql.database.windows.net",
  "Microsoft.Insights/components ConnectionString":
    "InstrumentationKey=22222222-2222-2222-2222-222222222222;IngestionEndpoint=https://in.applicationinsights.azure.com/",
};

/** Name and value of each app setting, expressions replaced by what Azure would answer. */
function appSettings(deployment: Deployment): readonly (readonly [name: string, value: string])[] {
  const site = theOne(deployment, "Microsoft.Web/sites");
  return listAt(site, "properties.siteConfig.appSettings").map((entry) => [
    textAt(entry, "name"),
    resolve(deployment, textAt(entry, "value")),
  ]);
}

function resolve(deployment: Deployment, value: string): string {
  if (!value.startsWith("[")) return value;
  const formatted = /^\[format\('([^']*)', (.*)\)\]$/.exec(value);
  const template = formatted?.[1] ?? "{0}";
  const inner = formatted?.[2] ?? value.slice(1, -1);
  const parts = [...inner.matchAll(part)].map((found) => resolvePart(deployment, found));
  const filled = /\{\{|\}\}|\{(\d+)\}/g;
  return template.replace(filled, (brace, at?: string) =>
    at === undefined ? brace.charAt(0) : (parts[Number(at)] ?? ""),
  );
}

/** A property of a resource, a literal, or the address of the portal. */
const part =
  /reference\('(?<id>[^']+)', '[^']+'\)\.(?<path>[\w.]+)|'(?<literal>[^']*)'|environment\(\)\.portal/g;

function resolvePart({ predictedResources }: Deployment, { groups }: RegExpMatchArray): string {
  const { id, path = "", literal } = groups ?? {};
  if (literal !== undefined) return literal;
  if (id === undefined) return "https://portal.azure.com";
  const type = predictedResources.find((resource) => resource.id === id)?.type ?? "";
  // An unknown value here is empty there: the program's own checks name the missing one.
  return answers[`${type} ${path}`] ?? "";
}

/** App settings are lines of the settings table, and all that the program and its host need on Azure. */
export const settings: Policy = (deployment) => {
  const entries = appSettings(deployment);
  const names = entries.map(([name]) => name);
  return [
    ...names.filter((name) => notOnFlex.has(name)).map((name) => `${name} is for other plans`),
    ...names
      .filter((name) => !knownSettings.has(name) && !hostSettings.includes(name))
      .map((name) => `${name}: nothing reads it`),
    ...names.filter((name, at) => names.indexOf(name) !== at).map((name) => `${name} is set twice`),
    ...entries.filter(([, value]) => value === "").map(([name]) => `${name} has no value`),
    ...hostSettings
      .filter((name) => !names.includes(name))
      .map((name) => `${name} is missing: the host can't start without it`),
    ...readingFaults(Object.fromEntries(entries)),
  ];
};

/** The program itself reads them: whether each sign-in is the app's identity. */
function readingFaults(environment: Readonly<Record<string, string>>): readonly string[] {
  let read: Settings;
  try {
    read = loadSettings(environment);
  } catch (error) {
    if (error instanceof SettingsError) return [error.message];
    throw error;
  }
  const { database, storage, telemetry, traceUrl } = read;
  const signIns: readonly (readonly [what: string, isRight: boolean])[] = [
    ["the database", database.kind === "identity" && database.clientId === clientId],
    [
      "the queues",
      storage?.kind === "identity" &&
        storage.credential === "managedidentity" &&
        storage.clientId === clientId,
    ],
    ["telemetry", telemetry?.usesIdentity === true && telemetry.clientId === clientId],
  ];
  return [
    ...signIns
      .filter(([, isRight]) => !isRight)
      .map(([what]) => `${what} is not signed in to with the app's identity`),
    ...(isLink(traceUrl) ? [] : ["a task's page doesn't link to the lines of its trace"]),
  ];
}

/** Does it ask the app's Application Insights for one trace? */
function isLink(traceUrl: string | null): boolean {
  const decoded = decodeURIComponent(traceUrl ?? "");
  return (
    /\/resourceId\/\/subscriptions\/[^?]*\/components\/[\w-]+\/source\//.test(decoded) &&
    decoded.includes('where operation_Id == "{trace}" |')
  );
}

/** The queues are those that the triggers listen to, each with the one for what failed too often. */
export const queues: Policy = (deployment) => {
  const { hintQueue, ingestQueue } = loadTriggerSettings(
    Object.fromEntries(appSettings(deployment)),
  );
  const wanted = [hintQueue, ingestQueue].flatMap((name) => [name, `${name}-poison`]);
  const type = "Microsoft.Storage/storageAccounts/queueServices/queues";
  const found = resourcesOf(deployment, type).map(({ name }) => name.split("/").pop() ?? "");
  return [
    ...wanted.filter((name) => !found.includes(name)).map((name) => `there is no queue ${name}`),
    ...found.filter((name) => !wanted.includes(name)).map((name) => `nothing reads queue ${name}`),
  ];
};

/** Everything that the port of telemetry can count or record. */
function measuredNames(): ReadonlySet<string> {
  const port = readFileSync(join(root, "shared/ports/telemetry.ts"), "utf8");
  const types = port.slice(port.indexOf("export type TelemetryCounter"));
  return new Set([...types.matchAll(/"(taskgate\.[a-z.]+)"/g)].map(([, name]) => name ?? ""));
}

/** Metrics of Microsoft.Sql/servers/databases that the rules may watch. */
const databaseMetrics: ReadonlySet<string> = new Set([
  "cpu_percent",
  "deadlock",
  "log_write_percent",
  "sessions_percent",
  "storage_percent",
  "workers_percent",
]);

/** Alert rules watch measured values of deployed resources; production hears of silence and of dead letters. */
export const alerts: Policy = (deployment) => {
  const rules = [
    ...resourcesOf(deployment, "Microsoft.Insights/scheduledQueryRules"),
    ...resourcesOf(deployment, "Microsoft.Insights/metricAlerts"),
  ];
  const ids = deployment.predictedResources.map(({ id }) => id);
  const criteria = rules.flatMap((rule) =>
    listAt(rule, "properties.criteria.allOf").map((criterion) => ({ name: rule.name, criterion })),
  );
  const watched = criteria.map(({ criterion }) => textAt(criterion, "query")).join("\n");
  const needed = deployment.environment === "prod" ? neededInProduction : [];
  return [
    ...needed.filter((name) => !watched.includes(`"${name}"`)).map((name) => `none on ${name}`),
    ...rules
      .filter(
        (rule) =>
          !listAt(rule, "properties.scopes").every((id) => ids.some((known) => known === id)),
      )
      .map(({ name }) => `${name} watches what is not deployed`),
    ...rules
      .filter((rule) => valueAt(rule, "properties.enabled") !== true)
      .map(({ name }) => `${name} is off`),
    ...criteria.flatMap(({ name, criterion }) =>
      criterionFaults(criterion).map((fault) => `${name}: ${fault}`),
    ),
  ];
};

/** The workspace's own word for its daily cap, in its own table. */
const capQuery =
  '_LogOperation | where Category =~ "Ingestion" | where Detail contains "OverQuota"';

const neededInProduction: readonly string[] = [
  "OverQuota",
  "taskgate.message.refused",
  "taskgate.sweep.count",
  "taskgate.task.dead",
];

function criterionFaults(criterion: Json): readonly string[] {
  const query = textAt(criterion, "query");
  if (query === "") {
    const metric = textAt(criterion, "metricName");
    return databaseMetrics.has(metric) ? [] : [`${metric} is no metric of the database`];
  }
  if (query.startsWith(`${capQuery} | `)) return [];
  const measured = measuredNames();
  const names = [...query.matchAll(/\bName\s*==\s*"([^"]*)"/g)].map(([, name]) => name ?? "");
  const column = textAt(criterion, "metricMeasureColumn");
  return [
    ...(names.length === 0 ? ["the query names no metric"] : []),
    ...names.filter((name) => !measured.has(name)).map((name) => `${name} is never measured`),
    ...(query.startsWith("AppMetrics ") ? [] : ["counters arrive in AppMetrics"]),
    ...(query.includes(` ${column} = `) ? [] : [`the query has no column ${column}`]),
  ];
}

/** The sweep lets a database pause that may, and comes often enough for the rule that misses it. */
export const sweeps: Policy = (deployment) => {
  const { sweepSchedule } = loadTriggerSettings(Object.fromEntries(appSettings(deployment)));
  const [first, second] = new Cron(sweepSchedule, { timezone: "UTC" }).nextRuns(2);
  const minutes = ((second?.getTime() ?? NaN) - (first?.getTime() ?? NaN)) / 60_000;
  const database = theOne(deployment, "Microsoft.Sql/servers/databases");
  const pause = Number(valueAt(database, "properties.autoPauseDelay") ?? -1);
  const rules = resourcesOf(deployment, "Microsoft.Insights/scheduledQueryRules");
  return [
    ...(minutes > 0 ? [] : [`${sweepSchedule} never comes twice`]),
    ...(rules.length > 0 && minutes > 5 ? ["alerts expect a sweep every five minutes"] : []),
    ...(pause > 0 && minutes <= 2 * pause ? ["the sweep keeps the database awake"] : []),
  ];
};

/** Pausing and the free offer exist for serverless databases of their size only. */
export const serverless: Policy = (deployment) => {
  const database = theOne(deployment, "Microsoft.Sql/servers/databases");
  const property = (name: string): Json | undefined => valueAt(database, `properties.${name}`);
  const isServerless = textAt(database, "sku.name").startsWith("GP_S_");
  const isFree = property("useFreeLimit") === true;
  const onlyServerless = ["autoPauseDelay", "minCapacity", "useFreeLimit"];
  return [
    ...onlyServerless
      .filter((name) => !isServerless && property(name) !== undefined)
      .map((name) => `${name} is for serverless databases`),
    ...(isServerless && property("minCapacity") === undefined ? ["minCapacity is missing"] : []),
    ...(isFree && Number(property("maxSizeBytes")) > 32 * 2 ** 30 ? ["free are 32 GB"] : []),
    ...(isFree && property("requestedBackupStorageRedundancy") !== "Local"
      ? ["free are local backups"]
      : []),
  ];
};

/** azd hands outputs to the hooks as variables, and the program refuses TASKGATE_ names that it doesn't know. */
export const outputs: Policy = (deployment) =>
  Object.keys(deployment.outputs)
    .filter((name) => name.startsWith("TASKGATE_") && !knownSettings.has(name))
    .map((name) => `output ${name} is no setting: the program would refuse it`);
