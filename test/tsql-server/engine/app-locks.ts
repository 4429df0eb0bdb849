import type { LockMode } from "../locks/modes";
import type { SqlValue } from "../values";
import type { Connection } from "./connection";
import { SqlError } from "./sql-error";
import type { Steps } from "./steps";

/** Application locks [doc: sp_getapplock]: names, compared exactly, locked like keys. */

type Values = ReadonlyMap<string, SqlValue>;

const modes: Readonly<Record<string, LockMode>> = {
  shared: "S",
  update: "U",
  exclusive: "X",
  intentshared: "IS",
  intentexclusive: "IX",
};

/** The name of an application lock in the lock table. */
function appLockResource(name: string): string {
  return `APP ${name.slice(0, 255)}`;
}

function ownerOf(values: Values): "transaction" | "session" | undefined {
  const owner = String(values.get("@lockowner") ?? "Transaction").toLowerCase();
  return owner === "transaction" || owner === "session" ? owner : undefined;
}

/** 0 at once, 1 after a wait, -1 time is up, -3 deadlock victim, -999 a bad call. */
export function* takeAppLock(values: Values, connection: Connection): Steps<number> {
  const name = values.get("@resource");
  const mode = modes[String(values.get("@lockmode") ?? "").toLowerCase()];
  const owner = ownerOf(values);
  if (typeof name !== "string" || mode === undefined || owner === undefined) return -999;
  if (owner === "transaction" && connection.transactionCount === 0) return -999;
  const ask = { resource: appLockResource(name), mode };
  const wait = Number(values.get("@locktimeout") ?? connection.settings.lockTimeoutMs);
  const before = connection.settings.lockTimeoutMs;
  const waits = connection.metrics.waits;
  connection.settings.lockTimeoutMs = wait;
  connection.isTakingAppLock = true;
  try {
    yield* connection.lock({
      kind: "lock",
      resolve: () => ask,
      onConflict: wait === 0 ? "fail" : "wait",
    });
  } catch (error) {
    if (error instanceof SqlError && error.number === 1222) return -1;
    if (error instanceof SqlError && error.number === 1205) return -3;
    throw error;
  } finally {
    connection.settings.lockTimeoutMs = before;
    connection.isTakingAppLock = false;
  }
  const owners = connection.appLocks.get(ask.resource) ?? { session: 0, transaction: 0 };
  owners[owner] += 1;
  connection.appLocks.set(ask.resource, owners);
  return connection.metrics.waits > waits ? 1 : 0;
}

export function* releaseAppLock(values: Values, connection: Connection): Steps<number> {
  yield* [];
  const name = values.get("@resource");
  const owner = ownerOf(values);
  const resource = appLockResource(typeof name === "string" ? name : "");
  const owners = connection.appLocks.get(resource);
  if (owner === undefined || owners === undefined || owners[owner] === 0) {
    throw new SqlError(
      1223,
      `Cannot release the application lock (Database Principal: 'public', Resource: '${String(name)}') because it is not currently held.`,
    );
  }
  // Taken twice, released twice [doc: sp_releaseapplock].
  owners[owner] -= 1;
  if (owners.session + owners.transaction === 0) {
    connection.appLocks.delete(resource);
    connection.world.locks.restore(connection.id, resource, undefined);
  }
  return 0;
}
