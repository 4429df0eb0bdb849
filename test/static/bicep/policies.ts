import { apiAddresses, callers } from "./caller-policies";
import { capacity } from "./capacity";
import { alerts, outputs, queues, serverless, settings, sweeps } from "./program-policies";
import { addresses, leastPrivilege, releasedVersions, secrets, signIn } from "./security-policies";
import type { Policy } from "./snapshot";

/** Every policy, by the sentence that it makes true. */
export const policies = {
  "no secret is made, fetched or handed on": secrets,
  "keys, passwords and old protocols are off": signIn,
  "SQL, storage and the API admit no caller from the internet": addresses,
  "roles are those that the app needs, each on one resource": leastPrivilege,
  "callers sign in as the app expects": callers,
  "addresses that are named shut out all others": apiAddresses,
  "API versions are released": releasedVersions,
  "app settings are those of the settings table, enough for the program to start": settings,
  "queues are those that the functions listen to": queues,
  "alert rules watch what telemetry measures": alerts,
  "the database bears all that the platform may start": capacity,
  "the sweep fits the database's pause and the alerts": sweeps,
  "pausing and the free offer are for serverless databases": serverless,
  "outputs that look like settings are settings": outputs,
} as const satisfies Record<string, Policy>;

export type PolicyName = keyof typeof policies;
