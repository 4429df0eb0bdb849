import { createApiRoutes } from "../../../shared/functions/api/routes";
import { listAt, resourcesOf, textAt, theOne, valueAt, type Json, type Policy } from "./snapshot";

/* Whom the API lets in: the platform's sign-in is what the app's own setting says, and has no way around it. */

const config = "Microsoft.Web/sites/config";
const provider = "properties.identityProviders.azureActiveDirectory";

/** What the sign-in must say where callers sign in with Entra: a path below `properties`, and the value. */
const withEntra: readonly (readonly [path: string, wanted: Json])[] = [
  ["platform.enabled", true],
  ["globalValidation.requireAuthentication", true],
  ["globalValidation.redirectToProvider", "azureactivedirectory"],
  ["httpSettings.requireHttps", true],
  ["identityProviders.azureActiveDirectory.enabled", true],
  // Tokens in the file system of the app would be secrets.
  ["login.tokenStore.enabled", false],
];

/** The app wants no key only where the platform lets no caller pass without a sign-in of this tenant. */
export const callers: Policy = (deployment) => {
  const site = theOne(deployment, "Microsoft.Web/sites");
  const settings = listAt(site, "properties.siteConfig.appSettings");
  const setting = settings.find((entry) => textAt(entry, "name") === "TASKGATE_API_SIGN_IN");
  const usesEntra = textAt(setting, "value") === "entra";
  const signIn = resourcesOf(deployment, config).find(({ name }) =>
    name.endsWith("/authsettingsV2"),
  );
  if (signIn === undefined)
    return ["the platform's sign-in is not deployed: an old one would stay"];
  if (!usesEntra) {
    return valueAt(signIn, "properties.platform.enabled") === false
      ? []
      : ["the platform's sign-in is on, but the app wants keys"];
  }
  const issuer = textAt(signIn, `${provider}.registration.openIdIssuer`);
  const clientId = textAt(signIn, `${provider}.registration.clientId`);
  const audiences = listAt(signIn, `${provider}.validation.allowedAudiences`);
  const action = textAt(signIn, "properties.globalValidation.unauthenticatedClientAction");
  return [
    ...withEntra
      .filter(([path, wanted]) => valueAt(signIn, `properties.${path}`) !== wanted)
      .map(([path, wanted]) => `${path} must be ${JSON.stringify(wanted)}`),
    ...(action === "AllowAnonymous" || action === "" ? ["strangers pass without a sign-in"] : []),
    ...listAt(signIn, "properties.globalValidation.excludedPaths")
      .filter((path) => typeof path !== "string" || opensApi(path))
      .map((path) => `${JSON.stringify(path)} opens routes that want a sign-in`),
    ...(/'[0-9a-f-]{36}\/v2\.0'\)\]$/.test(issuer) ? [] : ["the issuer must be one tenant"]),
    ...(clientId === "" ? ["the app registration is missing"] : []),
    ...(audiences.length === 1 && audiences[0] === `api://${clientId}`
      ? []
      : ["tokens for another app would be taken"]),
  ];
};

/** The first part of each route that trusts the sign-in: those of the API, of the dashboard, and the usual prefix. */
export const apiParts: readonly string[] = [
  ...new Set([
    ...createApiRoutes(() => Promise.reject(new Error("not asked"))).map(
      ({ route }) => route.split("/")[0] ?? "",
    ),
    "dashboard",
    "results",
    "taskgate",
  ]),
];

/** Whether App Service may take the path for one that such a route lies below. */
function opensApi(path: string): boolean {
  const name = /^\/api\/([^*%\\]+)$/.exec(path)?.[1]?.toLowerCase();
  return (
    name === undefined ||
    name.includes("..") ||
    apiParts.some((part) => part.startsWith(name.split("/")[0] ?? ""))
  );
}

const cidr = /^(?:\d{1,3}(?:\.\d{1,3}){3}\/\d{1,2}|[0-9a-f:]+\/\d{1,3})$/;

/** Where addresses are named no other gets in, to the API or to where deployments go; the private network needs none. */
export const apiAddresses: Policy = (deployment) => {
  const site = theOne(deployment, "Microsoft.Web/sites");
  const rules = listAt(site, "properties.siteConfig.ipSecurityRestrictions");
  const others = rules.length === 0 ? "Allow" : "Deny";
  const actions = ["ipSecurityRestrictionsDefaultAction", "scmIpSecurityRestrictionsDefaultAction"];
  const priorities = rules.map((rule) => valueAt(rule, "priority"));
  return [
    ...actions
      .filter((name) => textAt(site, `properties.siteConfig.${name}`) !== others)
      .map((name) => `${name} must be ${others}`),
    ...(valueAt(site, "properties.siteConfig.scmIpSecurityRestrictionsUseMain") === true
      ? []
      : ["deployments come in from everywhere"]),
    ...rules
      .filter((rule) => textAt(rule, "action") !== "Allow" || !cidr.test(textAt(rule, "ipAddress")))
      .map((rule) => `${textAt(rule, "name")} admits no address as CIDR`),
    ...(new Set(priorities).size === rules.length ? [] : ["two rules have one priority"]),
  ];
};
