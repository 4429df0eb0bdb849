import { settingsTable } from "../../../shared/settings/settings";
import { changeResources, drop, more, put, reword } from "./changes";
import { callerFaults } from "./planted-caller-faults";
import type { Row } from "./planted-caller-faults";
import type { Change } from "./changes";
import type { PolicyName } from "./policies";
import { hostSettings } from "./program-policies";
import { demands } from "./security-policies";
import { listAt, textAt, theOne, type Deployment, type Environment, type Json } from "./snapshot";

/** A deployment with one fault, which its policy must find in a sentence that holds `says`. */
export interface PlantedFault {
  readonly policy: PolicyName;
  readonly environment: Environment;
  readonly title: string;
  readonly says: string;
  readonly plant: Change;
}

/** Another list of app settings, each [name, value]. */
function changeSettings(change: (entries: readonly Json[]) => readonly Json[]): Change {
  return (deployment) => {
    const path = "properties.siteConfig.appSettings";
    const entries = listAt(theOne(deployment, site), path);
    return put(site, path, change(entries))(deployment);
  };
}

const storage = "Microsoft.Storage/storageAccounts";
const queue = "Microsoft.Storage/storageAccounts/queueServices/queues";
const server = "Microsoft.Sql/servers";
const database = "Microsoft.Sql/servers/databases";
const rule = "Microsoft.Sql/servers/firewallRules";
const site = "Microsoft.Web/sites";
const role = "Microsoft.Authorization/roleAssignments";
const endpoint = "Microsoft.Network/privateEndpoints";
const link = "Microsoft.Network/privateDnsZones/virtualNetworkLinks";
const query = "Microsoft.Insights/scheduledQueryRules";
const metric = "Microsoft.Insights/metricAlerts";
const scale = "properties.functionAppConfig.scaleAndConcurrency";
const blobOwner = "b7e6dc6d-f1e8-4753-8033-0f276bb0955b";

const rows: Readonly<Record<PolicyName, readonly Row[]>> = {
  "no secret is made, fetched or handed on": [
    [
      "dev",
      "a password of an administrator",
      "administratorLoginPassword is a secret",
      put(server, "properties.administratorLoginPassword", "[newGuid()]"),
    ],
    [
      "prod",
      "a key in an app setting",
      "a secret is fetched",
      put(
        site,
        "properties.siteConfig.appSettings.0.value",
        "[listKeys('st', '2025-01-01').keys[0].value]",
      ),
    ],
    [
      "prod",
      "a connection string in an app setting",
      "a secret in",
      put(
        site,
        "properties.siteConfig.appSettings.0.value",
        "[format('AccountName=st;AccountKey={0}', 'abc')]",
      ),
    ],
    [
      "dev",
      "a key in an output",
      "a secret is fetched",
      (deployment) => ({
        ...deployment,
        outputs: { ...deployment.outputs, KEY: "[listKeys('st', '2025-01-01').keys[0].value]" },
      }),
    ],
  ],
  // More of them, one for each demand, are made below.
  "keys, passwords and old protocols are off": [
    [
      "prod",
      "publishing with a password",
      "publishing by ftp",
      drop("Microsoft.Web/sites/basicPublishingCredentialsPolicies", "ftp"),
    ],
  ],
  "SQL, storage and the API admit no caller from the internet": [
    [
      "prod",
      "a public server",
      "publicNetworkAccess must be Disabled",
      put(server, "properties.publicNetworkAccess", "Enabled"),
    ],
    [
      "prod",
      "a misspelt word, which the compiler lets through",
      "publicNetworkAccess must be Disabled",
      put(server, "properties.publicNetworkAccess", "Disabeld"),
    ],
    [
      "prod",
      "a server that says nothing, which stands for public",
      "publicNetworkAccess must be Disabled",
      put(server, "properties.publicNetworkAccess", undefined),
    ],
    [
      "prod",
      "public storage",
      "publicNetworkAccess must be Disabled",
      put(storage, "properties.publicNetworkAccess", "Enabled"),
    ],
    [
      "prod",
      "storage open to all addresses",
      "defaultAction must be Deny",
      put(storage, "properties.networkAcls.defaultAction", "Allow"),
    ],
    ["prod", "a firewall rule", "production has no firewall rule", more(rule, {})],
    [
      "dev",
      "a rule for the whole internet",
      "admits others",
      put(rule, "properties.endIpAddress", "255.255.255.255"),
    ],
    [
      "dev",
      "a rule for one address",
      "admits others",
      put(rule, "properties", { startIpAddress: "203.0.113.7", endIpAddress: "203.0.113.7" }),
    ],
    [
      "prod",
      "an app outside the network",
      "the app is in no subnet",
      put(site, "properties.virtualNetworkSubnetId", null),
    ],
    [
      "prod",
      "a public API",
      "publicNetworkAccess must be Disabled",
      put(site, "properties.publicNetworkAccess", "Enabled"),
    ],
    ["prod", "no endpoint of the API", "sites has no private", drop(endpoint, "-sites")],
    ["prod", "no endpoint of SQL", "sqlServer has no private", drop(endpoint, "-sqlServer")],
    ["prod", "no endpoint of queues", "queue has no private", drop(endpoint, "-queue")],
    [
      "prod",
      "the endpoint of SQL on the storage account",
      "leads elsewhere",
      reword(endpoint, "Microsoft.Sql/servers/sql-", "Microsoft.Storage/storageAccounts/st-"),
    ],
    [
      "prod",
      "an endpoint without a DNS zone",
      "has no DNS zone",
      drop("Microsoft.Network/privateDnsZones", "privatelink.table."),
    ],
    [
      "prod",
      "the zone of another service",
      "is no zone of blob",
      reword(`${endpoint}/privateDnsZoneGroups`, "privatelink.blob.", "privatelink.queue."),
    ],
    ["prod", "a zone without a network", "is linked to no network", drop(link, "-blob'")],
  ],
  "roles are those that the app needs, each on one resource": [
    [
      "dev",
      "a role is missing",
      "Storage Blob Data Owner on azure-webjobs-hosts is missing",
      drop(role, "azure-webjobs-hosts"),
    ],
    [
      "prod",
      "the app is Owner",
      "role 8e3af657-a8ff-443c-a75c-2fe8c4bcb635 on azure-webjobs-hosts is too much",
      reword(role, blobOwner, "8e3af657-a8ff-443c-a75c-2fe8c4bcb635"),
    ],
    [
      "prod",
      "the app may write all blobs of the account",
      "Storage Blob Data Owner on the account is too much",
      reword(role, "/blobServices/default/containers/azure-webjobs-hosts", ""),
    ],
    [
      "dev",
      "the app owns its package",
      "Storage Blob Data Owner on app-package is too much",
      reword(role, "ba92f5b4-2d11-453d-a403-e96b0029c9fe", blobOwner),
    ],
    [
      "prod",
      "somebody else has a role",
      "is too much",
      more(role, { properties: { principalId: "44444444-4444-4444-4444-444444444444" } }),
    ],
    [
      "prod",
      "roles on the whole subscription",
      "must be assigned on one",
      reword(role, "[extensionResourceId(", "[subscriptionResourceId("),
    ],
    [
      "prod",
      "roles on the resource group",
      "must be assigned on one",
      changeResources((resource) =>
        resource.type === role
          ? { ...resource, id: resource.id.replace(/\/providers\/[^']+'/, "'") }
          : resource,
      ),
    ],
    [
      "dev",
      "names that two roles would share",
      "must be a guid() of scope, principal and role",
      put(role, "name", "[guid('blob')]"),
    ],
    [
      "dev",
      "names that two identities would share",
      "must hold the principal",
      changeResources((resource) =>
        resource.type === role
          ? { ...resource, name: resource.name.replace(/reference\(.*?\)\.principalId/, "'x'") }
          : resource,
      ),
    ],
    [
      "prod",
      "a principal that Entra may not know yet",
      "principalType must be",
      put(role, "properties.principalType", undefined),
    ],
  ],
  ...callerFaults,
  "API versions are released": [
    ["dev", "a preview", "is a preview", put(site, "apiVersion", "2026-01-01-preview")],
  ],
  // More of them, two for each app setting, are made below.
  "app settings are those of the settings table, enough for the program to start": [
    [
      "prod",
      "a setting of another plan",
      "is for other plans",
      changeSettings((entries) => [
        ...entries,
        { name: "FUNCTIONS_WORKER_RUNTIME", value: "node" },
      ]),
    ],
    [
      "dev",
      "a setting twice",
      "is set twice",
      changeSettings((entries) => [...entries, ...entries.slice(-1)]),
    ],
    [
      "prod",
      "a password for the database",
      "got both",
      changeSettings((entries) => [
        ...entries,
        { name: "TASKGATE_DATABASE_URL", value: "mssql://a:b@sql/taskgate" },
      ]),
    ],
    [
      "prod",
      "a schedule that nobody can read",
      "TASKGATE_SWEEP_SCHEDULE",
      reword(site, "*/30 * * * * *", "every now and then"),
    ],
    [
      "dev",
      "telemetry with a key",
      "telemetry is not signed in to",
      reword(site, "APPLICATIONINSIGHTS_AUTHENTICATION_STRING", "APPLICATIONINSIGHTS_KEY"),
    ],
    [
      "dev",
      "a link to all traces",
      "doesn't link to the lines of its trace",
      reword(site, "operation_Id%20%3D%3D", "operation_Id%20%21%3D"),
    ],
    [
      "dev",
      "the value of a resource that is not deployed",
      "has no value",
      drop("Microsoft.ManagedIdentity/userAssignedIdentities"),
    ],
  ],
  "queues are those that the functions listen to": [
    ["dev", "no queue of hints", "no queue taskgate-hints", drop(queue, "/taskgate-hints")],
    ["prod", "no poison queue", "no queue taskgate-ingest-poison", drop(queue, "ingest-poison")],
    ["prod", "a misspelt queue", "nothing reads queue", reword(queue, "ingest", "injest")],
    [
      "dev",
      "an app that listens to another queue",
      "no queue other-hints",
      changeSettings((entries) => [
        ...entries,
        { name: "TASKGATE_HINT_QUEUE", value: "other-hints" },
      ]),
    ],
  ],
  "alert rules watch what telemetry measures": [
    [
      "prod",
      "a counter of another name",
      "taskgate.sweeps.count is never measured",
      reword(query, "taskgate.sweep.count", "taskgate.sweeps.count"),
    ],
    [
      "prod",
      "no rule that misses the sweep",
      "none on taskgate.sweep.count",
      drop(query, "heartbeat"),
    ],
    ["prod", "no rule on the cap of logs", "none on OverQuota", drop(query, "log-cap")],
    [
      "prod",
      "a cap that no workspace tells of",
      "the query names no metric",
      reword(query, "_LogOperation |", "Operation |"),
    ],
    ["prod", "no rule on poison", "none on taskgate.message.refused", drop(query, "refused-")],
    ["prod", "no rule on dead letters", "none on taskgate.task.dead", drop(query, "dead-letters")],
    [
      "prod",
      "a table where no counters are",
      "counters arrive in AppMetrics",
      reword(query, "AppMetrics", "AppEvents"),
    ],
    [
      "prod",
      "a column that the query doesn't have",
      "the query has no column",
      put(query, "properties.criteria.allOf.0.metricMeasureColumn", "Total"),
    ],
    [
      "prod",
      "a query of everything",
      "the query names no metric",
      put(query, "properties.criteria.allOf.0.query", "AppMetrics | summarize Dead = count()"),
    ],
    [
      "prod",
      "a metric that no database has",
      "is no metric of the database",
      put(metric, "properties.criteria.allOf.0.metricName", "worker_percent"),
    ],
    ["prod", "a rule that is off", "is off", put(metric, "properties.enabled", false)],
    [
      "prod",
      "a rule on another database",
      "watches what is not deployed",
      reword(metric, "/databases/taskgate", "/databases/other"),
    ],
  ],
  "the database bears all that the platform may start": [
    [
      "prod",
      "the platform's default of instances",
      "connections, the database bears",
      put(site, `${scale}.maximumInstanceCount`, 100),
    ],
    [
      "prod",
      "connections by the driver's default",
      "connections, the database bears",
      changeSettings((entries) => [...entries, { name: "TASKGATE_CONNECTIONS_MAX", value: "10" }]),
    ],
    ["prod", "fewer cores", "busy workers, the database bears", put(database, "sku.capacity", 1)],
    [
      "prod",
      "a crowd that is always ready",
      "connections, the database bears",
      put(site, `${scale}.alwaysReady`, [{ name: "function:run", instanceCount: 40 }]),
    ],
    [
      "prod",
      "an always-ready function that is not there",
      "is no function",
      put(site, `${scale}.alwaysReady`, [{ name: "function:worker", instanceCount: 1 }]),
    ],
  ],
  "the sweep fits the database's pause and the alerts": [
    [
      "dev",
      "a sweep that never lets the database pause",
      "keeps the database awake",
      reword(site, "0 0 */6 * * *", "*/30 * * * * *"),
    ],
    [
      "prod",
      "a sweep that is rarer than its alert",
      "alerts expect a sweep",
      reword(site, "*/30 * * * * *", "0 0 */6 * * *"),
    ],
  ],
  "pausing and the free offer are for serverless databases": [
    [
      "dev",
      "a fixed size that should pause",
      "autoPauseDelay is for serverless",
      put(database, "sku.name", "GP_Gen5"),
    ],
    [
      "prod",
      "serverless without a least size",
      "minCapacity is missing",
      put(database, "properties.minCapacity", undefined),
    ],
    [
      "dev",
      "a free database that is too large",
      "free are 32 GB",
      put(database, "properties.maxSizeBytes", 33 * 2 ** 30),
    ],
    [
      "dev",
      "a free database with dear backups",
      "free are local backups",
      put(database, "properties.requestedBackupStorageRedundancy", "Geo"),
    ],
  ],
  "outputs that look like settings are settings": [
    [
      "dev",
      "an output that the program would refuse",
      "TASKGATE_WORKER is no setting",
      (deployment) => ({
        ...deployment,
        outputs: { ...deployment.outputs, TASKGATE_WORKER: "func" },
      }),
    ],
  ],
};

/** The written ones, and those that come from the demands and from the app settings of `prod`. */
export function plantedFaults(prod: Deployment): readonly PlantedFault[] {
  const written = Object.entries(rows).flatMap(([policy, list]) =>
    list.map(([environment, title, says, plant]) => ({
      ...{ policy: policy as PolicyName, environment, title, says, plant },
    })),
  );
  return [...written, ...faultsOfDemands(), ...faultsOfSettings(prod)];
}

function faultsOfDemands(): readonly PlantedFault[] {
  return demands.flatMap(([type, path]) =>
    (["Basic", undefined] as const).map((value) => ({
      policy: "keys, passwords and old protocols are off" as const,
      environment: "prod" as const,
      title: `${type}: ${value === undefined ? "no" : "a wrong"} ${path}`,
      says: `${path} must be`,
      plant: put(type, `properties.${path}`, value),
    })),
  );
}

function faultsOfSettings(prod: Deployment): readonly PlantedFault[] {
  const entries = listAt(theOne(prod, site), "properties.siteConfig.appSettings");
  return entries.flatMap((_, at) => {
    const name = textAt(entries[at], "name");
    const common = {
      policy:
        "app settings are those of the settings table, enough for the program to start" as const,
      environment: "prod" as const,
    };
    return [
      // One with a default may be left out; its parameter is unused then, which the compiler refuses.
      ...(settingsTable.some((line) => line.name === name && line.default !== null)
        ? []
        : [
            {
              ...common,
              title: `no ${name}`,
              says: hostSettings.includes(name) ? `${name} is missing` : "",
              plant: changeSettings((list) => list.filter((_entry, other) => other !== at)),
            },
          ]),
      {
        ...common,
        title: `${name} misspelt`,
        says: `${name}_`,
        plant: put(site, `properties.siteConfig.appSettings.${at}.name`, `${name}_`),
      },
    ];
  });
}
