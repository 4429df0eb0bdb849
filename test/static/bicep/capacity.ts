import type { ParameterValue } from "./bicepparam";

/**
 * Does the database bear what the platform may start? Two inequalities per environment, after the
 * published limits of Azure SQL: all connections that could ever be open, and all statements that
 * could ever run at once (only these take one of the database's workers).
 */
export interface CapacityPlan {
  /** Function groups that scale by themselves, each up to instanceCountMax. */
  readonly scalingGroups: readonly string[];
  /** Timers run on one instance at a time, held by a lease. */
  readonly timers: readonly string[];
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

const FLOW = {
  scalingGroups: ["http", "function:run", "function:ingest"],
  timers: ["function:sweep"],
  statementsPerTask: 1,
  secondsPerAttempt: 0.01,
  adminWorkers: 5,
} as const;

/** The plan of each parameter file; infra/README.md prints the same table. */
export const capacityPlans: Readonly<Record<string, CapacityPlan>> = {
  dev: { ...FLOW, tokensMax: 20, attemptsPerSecond: 50 },
  prod: { ...FLOW, tokensMax: 100, attemptsPerSecond: 500 },
};

/** Concurrent workers of the database by SKU; logins have the same limit. */
export function databaseWorkers(skuName: string, vCores: number): number {
  const perCore: Readonly<Record<string, number>> = { BC_Gen5: 100, GP_Gen5: 100, GP_S_Gen5: 75 };
  const workers = perCore[skuName];
  if (workers === undefined) {
    throw new Error(`No capacity is known for SKU ${skuName}`);
  }
  return workers * vCores;
}

/** What the two inequalities compare. */
export interface Capacity {
  readonly connectionsMax: number;
  readonly connectionsAllowed: number;
  readonly busyWorkersMax: number;
  readonly busyWorkersAllowed: number;
}

/**
 * Works out both sides of both inequalities for the values of a parameter file. How many connections
 * an instance opens is a setting of the program.
 */
export function computeCapacity(
  values: ReadonlyMap<string, ParameterValue>,
  plan: CapacityPlan & { readonly connectionsPerInstance: number },
): Capacity {
  const skuName = values.get("sqlSkuName");
  const vCores = Number(values.get("sqlVCores"));
  const workers = databaseWorkers(typeof skuName === "string" ? skuName : "", vCores);
  const instances =
    plan.scalingGroups.length * Number(values.get("instanceCountMax")) +
    readAlwaysReady(values.get("alwaysReady")).reduce((sum, item) => sum + item.instanceCount, 0) +
    plan.timers.length;
  return {
    connectionsMax: instances * plan.connectionsPerInstance,
    connectionsAllowed: 0.8 * workers,
    busyWorkersMax:
      plan.tokensMax * plan.statementsPerTask +
      plan.attemptsPerSecond * plan.secondsPerAttempt +
      plan.adminWorkers,
    busyWorkersAllowed: 0.6 * workers,
  };
}

/** Names and counts of the always-ready instances of a parameter file. */
export function readAlwaysReady(
  value: ParameterValue,
): readonly { readonly name: string; readonly instanceCount: number }[] {
  if (!isList(value)) {
    return [];
  }
  return value.flatMap((item) => {
    const { name, instanceCount } = isRecord(item) ? item : {};
    const isWhole = typeof name === "string" && typeof instanceCount === "number";
    return isWhole ? [{ name, instanceCount }] : [];
  });
}

function isList(value: ParameterValue): value is readonly ParameterValue[] {
  return Array.isArray(value);
}

function isRecord(value: ParameterValue): value is Readonly<Record<string, ParameterValue>> {
  return typeof value === "object" && !isList(value);
}
