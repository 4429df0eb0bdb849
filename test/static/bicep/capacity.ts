import { readFileSync } from "node:fs";
import { join } from "node:path";
import { settingsTable } from "../../../shared/settings/settings";
import { listAt, textAt, theOne, valueAt, type Deployment, type Policy } from "./snapshot";

/**
 * Does the database bear what the platform may start? Two inequalities per environment, after the
 * published limits of Azure SQL: all connections that could ever be open, and all statements that
 * could ever run at once (only these take one of the database's workers).
 */
interface CapacityPlan {
  /** Most tokens of all definitions together: tasks that run at once. */
  readonly tokensMax: number;
  /** Statements that a running task keeps executing at one time, as an average at worst. */
  readonly statementsPerTask: number;
  /** Attempts to start a worker, per second, and seconds each keeps a worker of the database. */
  readonly attemptsPerSecond: number;
  readonly secondsPerAttempt: number;
  /** Workers kept free for operators, migrations and backups. */
  readonly adminWorkers: number;
}

const flow = { statementsPerTask: 1, secondsPerAttempt: 0.01, adminWorkers: 5 } as const;

/** The plan of each environment; infra/README.md prints the same table. */
const plans: Readonly<Record<Deployment["environment"], CapacityPlan>> = {
  dev: { ...flow, tokensMax: 20, attemptsPerSecond: 50 },
  prod: { ...flow, tokensMax: 100, attemptsPerSecond: 500 },
};

/** Function groups that scale by themselves, each up to maximumInstanceCount, and timers, which run on one instance. */
function functionGroups(): {
  readonly scaling: readonly string[];
  readonly timers: readonly string[];
} {
  const text = readFileSync(join(__dirname, "../../../functions/index.ts"), "utf8");
  const named = (kind: string): readonly string[] =>
    [...text.matchAll(new RegExp(`^app\\.${kind}\\("(\\w+)"`, "gm"))].map(
      ([, name]) => `function:${name ?? ""}`,
    );
  return { scaling: ["http", ...named("storageQueue")], timers: named("timer") };
}

/** Concurrent workers of the database by SKU; logins have the same limit. */
function databaseWorkers(skuName: string, vCores: number): number {
  const perCore: Readonly<Record<string, number>> = { BC_Gen5: 100, GP_Gen5: 100, GP_S_Gen5: 75 };
  const workers = perCore[skuName];
  if (workers === undefined) throw new Error(`No capacity is known for SKU ${skuName}`);
  return workers * vCores;
}

/** Connections that one process opens at most: the app setting, or its default. */
function connectionsPerInstance(deployment: Deployment): number {
  const name = "TASKGATE_CONNECTIONS_MAX";
  const site = theOne(deployment, "Microsoft.Web/sites");
  const set = listAt(site, "properties.siteConfig.appSettings").find(
    (entry) => textAt(entry, "name") === name,
  );
  const entry = settingsTable.find((line) => line.name === name);
  return Number(set === undefined ? entry?.default : textAt(set, "value"));
}

/** What the two inequalities compare. */
export interface Capacity {
  readonly tokensMax: number;
  readonly connectionsMax: number;
  readonly connectionsAllowed: number;
  readonly busyWorkersMax: number;
  readonly busyWorkersAllowed: number;
}

/** Works out both sides of both inequalities. */
export function computeCapacity(deployment: Deployment): Capacity {
  const plan = plans[deployment.environment];
  const database = theOne(deployment, "Microsoft.Sql/servers/databases");
  const workers = databaseWorkers(
    textAt(database, "sku.name"),
    Number(valueAt(database, "sku.capacity")),
  );
  const scale = scaleOf(deployment);
  const { scaling, timers } = functionGroups();
  const instances =
    scaling.length * Number(valueAt(scale, "maximumInstanceCount")) +
    listAt(scale, "alwaysReady").reduce<number>(
      (sum, group) => sum + Number(valueAt(group, "instanceCount")),
      0,
    ) +
    timers.length;
  return {
    tokensMax: plan.tokensMax,
    connectionsMax: instances * connectionsPerInstance(deployment),
    connectionsAllowed: 0.8 * workers,
    busyWorkersMax:
      plan.tokensMax * plan.statementsPerTask +
      plan.attemptsPerSecond * plan.secondsPerAttempt +
      plan.adminWorkers,
    busyWorkersAllowed: 0.6 * workers,
  };
}

function scaleOf(deployment: Deployment): ReturnType<typeof valueAt> {
  const site = theOne(deployment, "Microsoft.Web/sites");
  return valueAt(site, "properties.functionAppConfig.scaleAndConcurrency");
}

/** The database bears all that the platform may start, and always-ready instances are of functions that exist. */
export const capacity: Policy = (deployment) => {
  const { connectionsMax, connectionsAllowed, busyWorkersMax, busyWorkersAllowed } =
    computeCapacity(deployment);
  const { scaling, timers } = functionGroups();
  const ready = listAt(scaleOf(deployment), "alwaysReady").map((group) => textAt(group, "name"));
  return [
    ...(connectionsMax <= connectionsAllowed
      ? []
      : [`${connectionsMax} connections, the database bears ${connectionsAllowed}`]),
    ...(busyWorkersMax <= busyWorkersAllowed
      ? []
      : [`${busyWorkersMax} busy workers, the database bears ${busyWorkersAllowed}`]),
    ...ready
      .filter((name) => ![...scaling, ...timers].includes(name))
      .map((name) => `always ready: ${name} is no function`),
  ];
};
