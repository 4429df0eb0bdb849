import type { Node } from "web-tree-sitter";
import { isSecretFunction } from "./builtins";
import type { BicepDocument, Deployable } from "./document";
import type { Report } from "./fault";
import { findNodes, lineOf, literalText, objectEntries, propertyOf } from "./parser";

/** Built-in roles that infra/ may assign, by the name used for them in Bicep. */
export const allowedRoles: Readonly<Record<string, string>> = {
  monitoringMetricsPublisher: "3913510d-42f4-4e42-8a64-420c390055eb",
  storageBlobDataOwner: "b7e6dc6d-f1e8-4753-8033-0f276bb0955b",
  storageQueueDataContributor: "974c5e8b-45b9-4653-ba55-5f855dd0fb88",
  storageTableDataContributor: "0a9a7e1f-b9d0-4cc4-a60d-0319b160aaa3",
};

/** Settings of other plans that break or mislead on Flex Consumption. */
const NOT_ON_FLEX: ReadonlySet<string> = new Set([
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

const SECRET_NAME =
  /(^|_)(password|secret|accesskey|accountkey|sastoken)$|administratorLogin|password$/i;
const SECRET_TEXT = /(AccountKey|SharedAccessKey|SharedAccessSignature|Password|Pwd)\s*=/i;
const GUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
const PREVIEWS_ALLOWED = new Set(["Microsoft.Insights/diagnosticSettings@2021-05-01-preview"]);

/** What a resource of a type must say: a path of properties and the texts allowed there. */
interface Demand {
  readonly type: string;
  readonly path: readonly string[];
  readonly allowed: readonly string[];
}

const DEMANDS: readonly Demand[] = [
  demand("Microsoft.Storage/storageAccounts", "allowSharedKeyAccess", ["false"]),
  demand("Microsoft.Storage/storageAccounts", "allowBlobPublicAccess", ["false"]),
  demand("Microsoft.Storage/storageAccounts", "minimumTlsVersion", ["'TLS1_2'", "'TLS1_3'"]),
  demand("Microsoft.Storage/storageAccounts", "supportsHttpsTrafficOnly", ["true"]),
  demand("Microsoft.Storage/storageAccounts/blobServices/containers", "publicAccess", ["'None'"]),
  demand("Microsoft.Sql/servers", "administrators.azureADOnlyAuthentication", ["true"]),
  demand("Microsoft.Sql/servers", "minimalTlsVersion", ["'1.2'", "'1.3'"]),
  demand("Microsoft.Insights/components", "DisableLocalAuth", ["true"]),
  demand("Microsoft.OperationalInsights/workspaces", "features.disableLocalAuth", ["true"]),
  demand("Microsoft.Web/sites", "httpsOnly", ["true"]),
  demand("Microsoft.Web/sites", "siteConfig.minTlsVersion", ["'1.2'", "'1.3'"]),
  demand("Microsoft.Web/sites", "siteConfig.ftpsState", ["'Disabled'"]),
  demand("Microsoft.Web/sites/basicPublishingCredentialsPolicies", "allow", ["false"]),
  demand("Microsoft.Authorization/roleAssignments", "principalType", ["'ServicePrincipal'"]),
];

function demand(type: string, path: string, allowed: readonly string[]): Demand {
  return { type, path: ["properties", ...path.split(".")], allowed };
}

/** Rules about security and taste that the types do not know. */
export function checkPolicy(document: BicepDocument, report: Report): void {
  checkSecrets(document, report);
  checkGuids(document, report);
  for (const module of document.modules) {
    if (/^(br|ts)[:/]/.test(module.target)) {
      const text = "modules from a registry cannot be built or checked offline";
      report("registry", lineOf(module.node), text);
    }
  }
  for (const resource of document.resources) {
    checkVersion(resource, report);
    checkDemands(resource, report);
    checkFirewall(resource, report);
    checkRoleAssignment(resource, report);
    checkSite(resource, report);
    if (resource.target.startsWith("Microsoft.Resources/deploymentScripts@")) {
      report(
        "secret",
        lineOf(resource.node),
        "deployment scripts need a storage account with keys",
      );
    }
  }
}

function checkSecrets(document: BicepDocument, report: Report): void {
  for (const call of findNodes(document.root, (node) => node.type === "call_expression")) {
    const name = call.childForFieldName("function");
    const last = name?.type === "member_expression" ? name.childForFieldName("property") : name;
    if (last && isSecretFunction(last.text)) {
      report("secret", lineOf(call), `"${last.text}" fetches a secret; use an identity`);
    }
  }
  for (const { name, node, decorators } of document.parameters) {
    if (SECRET_NAME.test(name) || decorators.some((decorator) => decorator.name === "secure")) {
      report("secret", lineOf(node), `parameter "${name}" is a secret; use an identity`);
    }
  }
  for (const object of findNodes(document.root, (node) => node.type === "object")) {
    for (const { name, key } of objectEntries(object)) {
      if (name !== undefined && SECRET_NAME.test(name)) {
        report("secret", lineOf(key), `"${name}" is a secret; use an identity`);
      }
    }
  }
  for (const text of findNodes(document.root, (node) => node.type === "string")) {
    if (SECRET_TEXT.test(text.text)) {
      report("secret", lineOf(text), "a connection string with a secret in it");
    }
  }
}

function checkGuids(document: BicepDocument, report: Report): void {
  const known = new Set(Object.values(allowedRoles));
  for (const text of findNodes(document.root, (node) => node.type === "string")) {
    for (const [guid] of text.text.matchAll(GUID)) {
      if (!known.has(guid.toLowerCase())) {
        report("role", lineOf(text), `${guid} is no role in the table of allowed roles`);
      }
    }
  }
  for (const object of findNodes(document.root, (node) => node.type === "object")) {
    for (const { name, value } of objectEntries(object)) {
      const guid = literalText(value);
      const expected = name === undefined ? undefined : allowedRoles[name];
      if (expected !== undefined && guid !== expected) {
        report("role", lineOf(value), `"${name ?? ""}" has the id ${expected}`);
      }
    }
  }
}

function checkVersion(resource: Deployable, report: Report): void {
  if (resource.target.endsWith("-preview") && !PREVIEWS_ALLOWED.has(resource.target)) {
    report("preview", lineOf(resource.node), `${resource.target} is a preview`);
  }
}

function checkDemands(resource: Deployable, report: Report): void {
  if (resource.isExisting) {
    return;
  }
  const type = resource.target.split("@")[0] ?? "";
  for (const { path, allowed } of DEMANDS.filter((wanted) => wanted.type === type)) {
    const value = propertyOf(resource.body, ...path);
    if (value === undefined || !allowed.includes(value.text)) {
      const line = lineOf(value ?? resource.node);
      report("policy", line, `${type}: ${path.join(".")} must be ${allowed.join(" or ")}`);
    }
  }
}

/** One address, or the special rule for Azure in a condition; never a range. */
function checkFirewall(resource: Deployable, report: Report): void {
  if (!resource.target.startsWith("Microsoft.Sql/servers/firewallRules@")) {
    return;
  }
  const start = propertyOf(resource.body, "properties", "startIpAddress");
  const end = propertyOf(resource.body, "properties", "endIpAddress");
  if (start?.text !== end?.text) {
    report("firewall", lineOf(resource.node), "a firewall rule for more than one address");
  }
  if (literalText(start) === "0.0.0.0" && !resource.isConditional) {
    report("firewall", lineOf(resource.node), "Azure addresses are let in without a condition");
  }
}

function checkRoleAssignment(resource: Deployable, report: Report): void {
  if (!resource.target.startsWith("Microsoft.Authorization/roleAssignments@")) {
    return;
  }
  const name = propertyOf(resource.body, "name");
  if (!isCallOf(name, "guid")) {
    report("role", lineOf(resource.node), "the name of a role assignment must come from guid()");
  }
  const role = propertyOf(resource.body, "properties", "roleDefinitionId");
  if (!isCallOf(role, "subscriptionResourceId")) {
    report("role", lineOf(resource.node), "a role id must come from subscriptionResourceId()");
  }
  // The same role must be in the name, or two assignments could fight for one name.
  const used = role === undefined ? undefined : /roleIds\.\w+/.exec(role.text)?.[0];
  if (used === undefined || name?.text.includes(used) !== true) {
    report("role", lineOf(resource.node), "name and roleDefinitionId must hold the same roleIds.*");
  }
}

function isCallOf(node: Node | undefined, name: string): boolean {
  return node?.childForFieldName("function")?.text === name;
}

function checkSite(resource: Deployable, report: Report): void {
  if (!resource.target.startsWith("Microsoft.Web/sites@") || resource.isExisting) {
    return;
  }
  const settings = readAppSettings(resource);
  for (const { name, node } of settings) {
    if (NOT_ON_FLEX.has(name)) {
      report("settings", lineOf(node), `"${name}" must not be set on Flex Consumption`);
    }
    if (settings.filter((other) => other.name === name).length > 1) {
      report("settings", lineOf(node), `"${name}" is set twice`);
    }
  }
  for (const name of expectedSettings.filter(
    (wanted) => !settings.some((s) => s.name === wanted),
  )) {
    report("settings", lineOf(resource.node), `the app lacks setting "${name}"`);
  }
  for (const { name, node } of settings.filter((s) => !expectedSettings.includes(s.name))) {
    report("settings", lineOf(node), `no code reads setting "${name}"`);
  }
}

/** The settings of the function app: what the program reads and what the Functions host reads. */
export const expectedSettings: readonly string[] = [
  "APPLICATIONINSIGHTS_AUTHENTICATION_STRING",
  "APPLICATIONINSIGHTS_CONNECTION_STRING",
  "AzureWebJobsStorage__blobServiceUri",
  "AzureWebJobsStorage__clientId",
  "AzureWebJobsStorage__credential",
  "AzureWebJobsStorage__queueServiceUri",
  "AzureWebJobsStorage__tableServiceUri",
  "TASKGATE_OPERATOR_API",
  "TASKGATE_SQL_CLIENT_ID",
  "TASKGATE_SQL_DATABASE",
  "TASKGATE_SQL_SERVER",
  "TASKGATE_SWEEP_SCHEDULE",
];

/** Names of the app settings that a site declares. */
export function readAppSettings(
  site: Deployable,
): readonly { readonly name: string; readonly node: Node }[] {
  const list = propertyOf(site.body, "properties", "siteConfig", "appSettings");
  return (list?.namedChildren ?? []).flatMap((item) => {
    const name = literalText(propertyOf(item ?? undefined, "name"));
    return item === null || name === undefined ? [] : [{ name, node: item }];
  });
}
