import { drop, put, reword } from "./changes";
import type { Change } from "./changes";
import type { Environment } from "./snapshot";

/* Faults of the sign-in and of the addresses, which caller-policies.ts must find. */

/** A planted fault in a list of its policy: `says` stands in the sentence that names it. */
export type Row = readonly [environment: Environment, title: string, says: string, plant: Change];

const site = "Microsoft.Web/sites";
const signInConfig = "Microsoft.Web/sites/config";
const entra = "properties.identityProviders.azureActiveDirectory";

/** The faults by the names of their policies. */
export const callerFaults = {
  "callers sign in as the app expects": [
    [
      "prod",
      "no sign-in of the platform",
      "is not deployed",
      drop("Microsoft.Web/sites/config", "authsettingsV2"),
    ],
    [
      "prod",
      "a sign-in that is off, though the app wants no key",
      "platform.enabled must be true",
      put(signInConfig, "properties.platform.enabled", false),
    ],
    [
      "dev",
      "a sign-in before an app that wants keys",
      "but the app wants keys",
      put(signInConfig, "properties.platform.enabled", true),
    ],
    [
      "prod",
      "strangers may pass",
      "requireAuthentication must be true",
      put(signInConfig, "properties.globalValidation.requireAuthentication", false),
    ],
    [
      "prod",
      "strangers pass by their action",
      "strangers pass",
      put(
        signInConfig,
        "properties.globalValidation.unauthenticatedClientAction",
        "AllowAnonymous",
      ),
    ],
    [
      "prod",
      "a route of the API without sign-in",
      '"/api/status" opens routes',
      put(signInConfig, "properties.globalValidation.excludedPaths", ["/api/status"]),
    ],
    [
      "prod",
      "all routes without sign-in",
      '"/api" opens routes',
      put(signInConfig, "properties.globalValidation.excludedPaths", ["/api/notify", "/api"]),
    ],
    [
      "prod",
      "routes without sign-in by a part of a name",
      '"/api/st" opens routes',
      put(signInConfig, "properties.globalValidation.excludedPaths", ["/api/st"]),
    ],
    [
      "prod",
      "every tenant of the world",
      "one tenant",
      reword(signInConfig, "00000000-0000-0000-0000-000000000001/v2.0", "common/v2.0"),
    ],
    [
      "prod",
      "no app registration",
      "app registration is missing",
      put(signInConfig, `${entra}.registration.clientId`, ""),
    ],
    [
      "prod",
      "tokens of other apps",
      "tokens for another app",
      put(signInConfig, `${entra}.validation.allowedAudiences`, []),
    ],
    [
      "prod",
      "stored tokens",
      "tokenStore.enabled must be false",
      put(signInConfig, "properties.login.tokenStore.enabled", true),
    ],
  ],
  "addresses that are named shut out all others": [
    [
      "dev",
      "everybody beside them",
      "must be Deny",
      put(site, "properties.siteConfig.ipSecurityRestrictionsDefaultAction", "Allow"),
    ],
    [
      "dev",
      "everybody at the site of deployments",
      "scmIpSecurityRestrictionsDefaultAction must be Deny",
      put(site, "properties.siteConfig.scmIpSecurityRestrictionsDefaultAction", "Allow"),
    ],
    [
      "dev",
      "deployments by rules of their own, of which there are none",
      "deployments come in from everywhere",
      put(site, "properties.siteConfig.scmIpSecurityRestrictionsUseMain", false),
    ],
    [
      "dev",
      "an address without its length, which Azure refuses",
      "as CIDR",
      put(site, "properties.siteConfig.ipSecurityRestrictions.0.ipAddress", "203.0.113.7"),
    ],
    [
      "dev",
      "two rules that fight",
      "one priority",
      put(site, "properties.siteConfig.ipSecurityRestrictions.1.priority", 100),
    ],
    [
      "prod",
      "a network that shuts itself out",
      "must be Allow",
      put(site, "properties.siteConfig.ipSecurityRestrictionsDefaultAction", "Deny"),
    ],
  ],
} as const satisfies Readonly<Record<string, readonly Row[]>>;
