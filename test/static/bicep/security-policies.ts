import {
  listAt,
  namesAndTexts,
  resourcesOf,
  textAt,
  theOne,
  valueAt,
  type Json,
  type Policy,
  type Resource,
} from "./snapshot";

/* Nothing is secret, every sign-in uses Entra, production has no public address, and rights are few. */

const secretName =
  /(^|_)(password|secret|accesskey|accountkey|sastoken)$|administratorLogin|password$/i;
const secretText = /(AccountKey|SharedAccessKey|SharedAccessSignature|Password|Pwd|sig)\s*=/i;

/** No key, password or signature is made, fetched or handed on. */
export const secrets: Policy = ({ predictedResources, outputs }) => {
  const { names, texts } = namesAndTexts([...predictedResources, outputs]);
  return [
    ...names.filter((name) => secretName.test(name)).map((name) => `${name} is a secret`),
    ...texts.filter((text) => secretText.test(text)).map((text) => `a secret in: ${text}`),
    ...texts
      .filter((text) => text.startsWith("[") && /\blist[A-Z]\w*\(/.test(text))
      .map((text) => `a secret is fetched: ${text}`),
  ];
};

/** What every resource of a type must say: a path below `properties`, and the values allowed there. */
export const demands: readonly (readonly [type: string, path: string, allowed: readonly Json[]])[] =
  [
    ["Microsoft.Storage/storageAccounts", "allowSharedKeyAccess", [false]],
    ["Microsoft.Storage/storageAccounts", "allowBlobPublicAccess", [false]],
    ["Microsoft.Storage/storageAccounts", "allowCrossTenantReplication", [false]],
    ["Microsoft.Storage/storageAccounts", "defaultToOAuthAuthentication", [true]],
    ["Microsoft.Storage/storageAccounts", "minimumTlsVersion", ["TLS1_2", "TLS1_3"]],
    ["Microsoft.Storage/storageAccounts", "supportsHttpsTrafficOnly", [true]],
    ["Microsoft.Storage/storageAccounts/blobServices/containers", "publicAccess", ["None"]],
    ["Microsoft.Sql/servers", "administrators.azureADOnlyAuthentication", [true]],
    ["Microsoft.Sql/servers", "minimalTlsVersion", ["1.2", "1.3"]],
    ["Microsoft.Sql/servers/auditingSettings", "state", ["Enabled"]],
    ["Microsoft.Insights/components", "DisableLocalAuth", [true]],
    ["Microsoft.OperationalInsights/workspaces", "features.disableLocalAuth", [true]],
    ["Microsoft.Web/sites", "httpsOnly", [true]],
    ["Microsoft.Web/sites", "siteConfig.minTlsVersion", ["1.2", "1.3"]],
    ["Microsoft.Web/sites", "siteConfig.scmMinTlsVersion", ["1.2", "1.3"]],
    ["Microsoft.Web/sites", "siteConfig.ftpsState", ["Disabled"]],
    [
      "Microsoft.Web/sites",
      "functionAppConfig.deployment.storage.authentication.type",
      ["UserAssignedIdentity"],
    ],
    ["Microsoft.Web/sites/basicPublishingCredentialsPolicies", "allow", [false]],
  ];

/** Keys, passwords and old protocols are off wherever Azure lets them be switched off. */
export const signIn: Policy = (deployment) => {
  const faults = demands.flatMap(([type, path, allowed]) => {
    const resources = resourcesOf(deployment, type);
    if (resources.length === 0) return [`there is no ${type}`];
    return resources
      .filter((resource) => !allowed.includes(valueAt(resource, `properties.${path}`) ?? null))
      .map(({ name }) => `${type} ${name}: ${path} must be ${JSON.stringify(allowed)}`);
  });
  const published = "Microsoft.Web/sites/basicPublishingCredentialsPolicies";
  const policies = resourcesOf(deployment, published).map(({ name }) => name.split("/")[1]);
  const open = ["ftp", "scm"].filter((name) => !policies.includes(name));
  return [...faults, ...open.map((name) => `publishing by ${name} with a password is not off`)];
};

/** SQL, storage and the API: in production by private endpoints only, in development never for a range of addresses. */
export const addresses: Policy = (deployment) => {
  const server = theOne(deployment, "Microsoft.Sql/servers");
  const account = theOne(deployment, "Microsoft.Storage/storageAccounts");
  const rules = resourcesOf(deployment, "Microsoft.Sql/servers/firewallRules");
  if (deployment.environment === "dev") {
    return rules
      .filter((rule) => textAt(rule, "properties.startIpAddress") !== "0.0.0.0")
      .concat(rules.filter((rule) => textAt(rule, "properties.endIpAddress") !== "0.0.0.0"))
      .map(({ name }) => `${name} admits others than Azure's addresses`);
  }
  const app = theOne(deployment, "Microsoft.Web/sites");
  const closed: readonly (readonly [Resource, string, string])[] = [
    [server, "publicNetworkAccess", "Disabled"],
    [account, "publicNetworkAccess", "Disabled"],
    [account, "networkAcls.defaultAction", "Deny"],
    [app, "publicNetworkAccess", "Disabled"],
  ];
  return [
    ...closed
      .filter(([resource, path, wanted]) => textAt(resource, `properties.${path}`) !== wanted)
      .map(([{ name }, path, wanted]) => `${name}: ${path} must be ${wanted}`),
    ...rules.map(({ name }) => `${name}: production has no firewall rule`),
    ...(textAt(app, "properties.virtualNetworkSubnetId") === ""
      ? ["the app is in no subnet, so that it can't reach what is private"]
      : []),
    ...[
      ...["blob", "queue", "table"].map((group) => [group, account.id] as const),
      ["sqlServer", server.id] as const,
      ["sites", app.id] as const,
    ].flatMap(([group, target]) => endpointFaults(deployment, group, target)),
  ];
};

/** A private endpoint is used only if its name resolves: endpoint, zone group, zone, link to the network. */
function endpointFaults(
  deployment: Parameters<Policy>[0],
  group: string,
  target: string,
): readonly string[] {
  const type = "Microsoft.Network/privateEndpoints";
  const connection = "properties.privateLinkServiceConnections.0.properties";
  const endpoint = resourcesOf(deployment, type).find((resource) =>
    listAt(resource, `${connection}.groupIds`).includes(group),
  );
  if (endpoint === undefined) return [`${group} has no private endpoint`];
  const faults: string[] = [];
  if (textAt(endpoint, `${connection}.privateLinkServiceId`) !== target)
    faults.push(`${endpoint.name} leads elsewhere than to ${target}`);
  const zoneGroup = resourcesOf(deployment, `${type}/privateDnsZoneGroups`).find(({ id }) =>
    id.startsWith(`${endpoint.id}/`),
  );
  const zoneId = textAt(
    zoneGroup,
    "properties.privateDnsZoneConfigs.0.properties.privateDnsZoneId",
  );
  const zone = deployment.predictedResources.find(({ id }) => id === zoneId);
  const services: Readonly<Record<string, string>> = {
    sqlServer: "sqlServerHostname",
    sites: "privatelink.azurewebsites.net",
  };
  const service = services[group] ?? `privatelink.${group}.`;
  if (zone === undefined) faults.push(`${endpoint.name} has no DNS zone`);
  else if (!zone.name.includes(service)) faults.push(`${zone.name} is no zone of ${group}`);
  const links = resourcesOf(deployment, "Microsoft.Network/privateDnsZones/virtualNetworkLinks");
  if (!links.some(({ name }) => name.replace(/'\)\]$/, "").endsWith(`-${group}`)))
    faults.push(`the DNS zone of ${group} is linked to no network`);
  return faults;
}

const storage = "Microsoft.Storage/storageAccounts";
const container = "Microsoft.Storage/storageAccounts/blobServices/containers";

/** Built-in roles by id, and what each may be assigned on. Owner and Contributor are not among them. */
const roles: Readonly<Record<string, readonly [name: string, scope: string]>> = {
  "acdd72a7-3385-48ef-bd42-f606fba81ae7": ["Reader", storage],
  "b7e6dc6d-f1e8-4753-8033-0f276bb0955b": ["Storage Blob Data Owner", container],
  "ba92f5b4-2d11-453d-a403-e96b0029c9fe": ["Storage Blob Data Contributor", container],
  "974c5e8b-45b9-4653-ba55-5f855dd0fb88": ["Storage Queue Data Contributor", storage],
  "0a9a7e1f-b9d0-4cc4-a60d-0319b160aaa3": ["Storage Table Data Contributor", storage],
  "3913510d-42f4-4e42-8a64-420c390055eb": [
    "Monitoring Metrics Publisher",
    "Microsoft.Insights/components",
  ],
};

/** The roles of each identity, as infra/modules/roles.bicep must assign them, no more and no less. */
export const assignedRoles: readonly string[] = [
  "app: Monitoring Metrics Publisher on the component",
  "app: Reader on the account",
  "app: Storage Blob Data Contributor on app-package",
  "app: Storage Blob Data Owner on azure-webjobs-hosts",
  "app: Storage Blob Data Owner on azure-webjobs-secrets",
  "app: Storage Queue Data Contributor on the account",
  "app: Storage Table Data Contributor on the account",
];

/** Each role is needed, belongs to the app's identity, and reaches one resource, never a group or a subscription. */
export const leastPrivilege: Policy = (deployment) => {
  const assignments = resourcesOf(deployment, "Microsoft.Authorization/roleAssignments");
  const found = assignments.map(
    (assignment) =>
      `${principalOf(assignment)}: ${roleOf(assignment)[0]} on ${placeOf(assignment)}`,
  );
  return [
    ...assignedRoles.filter((role) => !found.includes(role)).map((role) => `${role} is missing`),
    ...found.filter((role) => !assignedRoles.includes(role)).map((role) => `${role} is too much`),
    ...assignments.flatMap((assignment) => assignmentFaults(deployment, assignment)),
  ];
};

function assignmentFaults(
  deployment: Parameters<Policy>[0],
  assignment: Resource,
): readonly string[] {
  const [name, wanted] = roleOf(assignment);
  const scopeId = scopeIdOf(assignment);
  const scope = deployment.predictedResources.find(({ id }) => id === scopeId);
  const role = textAt(assignment, "properties.roleDefinitionId").split("/").pop() ?? "";
  const faults: string[] = [];
  if (scope?.type !== wanted) faults.push(`${name} must be assigned on one ${wanted}`);
  // A name without the role or the principal would be fought for by two assignments.
  const principal = textAt(assignment, "properties.principalId").slice(1, -1);
  if (!assignment.name.startsWith("[guid(") || !assignment.name.includes(`'${role}'`))
    faults.push(`${name}: the assignment's name must be a guid() of scope, principal and role`);
  else if (!assignment.name.includes(principal))
    faults.push(`${name}: the assignment's name must hold the principal`);
  if (
    principalOf(assignment) === "app" &&
    textAt(assignment, "properties.principalType") !== "ServicePrincipal"
  )
    faults.push(`${name}: principalType must be ServicePrincipal, or new identities fail`);
  return faults;
}

function scopeIdOf(assignment: Resource): string | undefined {
  return /^\[extensionResourceId\('([^']+)'/.exec(assignment.id)?.[1];
}

/** A container by its name; of everything else there is one. */
function placeOf(assignment: Resource): string {
  const id = scopeIdOf(assignment) ?? "";
  const [, name] = /\/containers\/([^/]+)$/.exec(id) ?? [];
  if (name !== undefined) return name;
  return id.includes("/Microsoft.Insights/components/") ? "the component" : "the account";
}

function roleOf(assignment: Resource): readonly [name: string, scope: string] {
  const id = textAt(assignment, "properties.roleDefinitionId").split("/").pop() ?? "";
  return roles[id] ?? [`role ${id}`, "scope that is written down here"];
}

function principalOf(assignment: Resource): string {
  const principal = textAt(assignment, "properties.principalId");
  if (/\/userAssignedIdentities\/[^']+', '[^']+'\)\.principalId\]$/.test(principal)) return "app";
  return principal.includes("deployer()") ? "deployer" : `somebody (${principal})`;
}

const previewsAllowed: readonly string[] = [
  // There is no released version of this type.
  "Microsoft.Insights/diagnosticSettings@2021-05-01-preview",
];

/** API versions are released ones. */
export const releasedVersions: Policy = ({ predictedResources }) =>
  predictedResources
    .map(({ type, apiVersion }) => `${type}@${apiVersion}`)
    .filter((version) => version.includes("preview") && !previewsAllowed.includes(version))
    .map((version) => `${version} is a preview`);
