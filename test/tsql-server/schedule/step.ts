import type { Answer } from "../engine/answer";
import { CollectedAnswer } from "../engine/answer";
import type { Connection } from "../engine/connection";
import { endTransaction } from "../engine/errors";
import { runRequest } from "../engine/requests";
import type { RequestResult, Work } from "../engine/requests";
import { CancelledError, sqlErrors } from "../engine/sql-error";
import type { Ask, LockPoint, Reply } from "../engine/steps";
import { nothingToLock } from "../engine/steps";
import type { World } from "../engine/world";

/**
 * One step of one connection: it tries the lock that it stands at, acts on it, and runs on to the next one. No threads, no
 * timers, no promises: the same steps in the same order are the same run.
 */

/** Begins a request; it runs to its first scheduling point at once, since nothing before it concerns others. */
export function startRequest(
  connection: Connection,
  request: Work,
  ...to: [answer?: Answer, done?: (result: RequestResult) => void]
): void {
  const [answer = new CollectedAnswer(), done = (): void => undefined] = to;
  if (connection.state !== "idle") throw new Error(`Connection ${connection.id} is busy`);
  connection.answer = answer;
  connection.steps = runRequest(request, connection, done);
  connection.state = "ready";
  advance(connection, nothingToLock);
}

/** Those who can take a step. */
export function readyConnections(world: World): Connection[] {
  return world.connections.filter((connection) => connection.state === "ready");
}

export function waitingConnections(world: World): Connection[] {
  return world.connections.filter((connection) => connection.state === "waiting");
}

/** Lets a ready connection take its next step. */
export function step(connection: Connection): void {
  if (connection.state !== "ready")
    throw new Error(`Connection ${connection.id} is ${connection.state}`);
  connection.world.recorder?.begins(connection);
  const { failure, reply, pending } = connection;
  if (failure !== undefined) {
    connection.failure = undefined;
    connection.reply = undefined;
    fail(connection, failure);
  } else if (reply !== undefined) {
    connection.reply = undefined;
    trace(connection, "has", reply.ask);
    connection.observe("waited");
    advance(connection, reply);
  } else if (pending?.kind === "lock") {
    tryLock(connection, pending);
  } else {
    connection.world.trace?.push(`${describe(connection)} ${pending?.reason ?? "goes on"}`);
    connection.observe(pending?.reason ?? "");
    advance(connection, nothingToLock);
  }
}

function tryLock(connection: Connection, point: LockPoint): void {
  const ask = point.resolve();
  if (ask === undefined) {
    connection.observe("nothing");
    advance(connection, nothingToLock);
    return;
  }
  const granted = connection.tryLock(ask);
  if (granted !== undefined) {
    trace(connection, "takes", ask);
    advance(connection, granted);
    return;
  }
  const before = connection.heldMode(ask.resource);
  if (point.onConflict === "skip") {
    trace(connection, "skips", ask);
    advance(connection, { outcome: "skipped", ask, before });
    return;
  }
  if (point.onConflict === "fail" || connection.settings.lockTimeoutMs === 0) {
    trace(connection, "may not wait for", ask);
    fail(connection, sqlErrors.lockTimeout());
    return;
  }
  wait(connection, ask, before);
}

function wait(connection: Connection, ask: Ask, before: Reply["before"]): void {
  const { world } = connection;
  world.locks.enqueue({ session: connection.id, resource: ask.resource, mode: ask.mode });
  connection.state = "waiting";
  connection.reply = { outcome: "granted", ask, before };
  connection.metrics.waits += 1;
  connection.waits += 1;
  connection.observe(`waits ${ask.resource}`);
  trace(connection, `WAITS behind ${world.locks.blockersOf(connection.id).join(", ")} for`, ask);
  endDeadlock(connection);
}

/** L22: a cycle ends with the death of the cheapest of it: lowest priority, fewest changes, last come. */
function endDeadlock(connection: Connection): void {
  const { world } = connection;
  const ring = world.locks.findCycle(connection.id);
  if (ring === undefined) return;
  const members = ring.map((id) => world.connection(id));
  const cost = (one: Connection): number =>
    world.options.victim === "last" ? 0 : (one.transaction?.undo.length ?? 0);
  members.sort(
    (left, right) =>
      left.settings.deadlockPriority - right.settings.deadlockPriority ||
      cost(left) - cost(right) ||
      right.id - left.id,
  );
  const [victim] = members;
  if (victim === undefined) return;
  world.deadlocks += 1;
  world.trace?.push(`deadlock of ${ring.join(", ")}: ${victim.id} dies`);
  kill(victim);
  // The others of the ring may be part of another one.
  if (victim !== connection && connection.state === "waiting") endDeadlock(connection);
}

/** The victim's transaction is undone at once; inside TRY it finds itself doomed. */
function kill(victim: Connection): void {
  stopWaiting(victim);
  const count = victim.transactionCount;
  const isCaught = victim.tryDepth > 0 && count > 0;
  if (victim.isTakingAppLock) {
    // Told by a status, -3; nothing is rolled back [doc: sp_getapplock].
  } else if (isCaught) {
    const { answer } = victim;
    victim.answer = undefined;
    endTransaction(victim);
    victim.answer = answer;
    victim.transactionCount = count;
    victim.isDoomed = true;
  } else {
    endTransaction(victim);
  }
  victim.failure = sqlErrors.deadlock(victim.id);
  victim.state = "ready";
}

function stopWaiting(connection: Connection): void {
  connection.world.locks.cancelWait(connection.id);
  connection.reply = undefined;
}

/** L23: a waiter whose LOCK_TIMEOUT is over; which waiters that is, and when, the scheduler decides. */
export function timeIsUp(connection: Connection): void {
  if (connection.state !== "waiting" || connection.settings.lockTimeoutMs < 0) {
    throw new Error(`Connection ${connection.id} doesn't wait for a limited time`);
  }
  stopWaiting(connection);
  connection.failure = sqlErrors.lockTimeout();
  connection.state = "ready";
}

/** Attention: the request ends where it stands, at its next step. */
export function cancelRequest(connection: Connection): void {
  if (connection.state === "idle") return;
  if (connection.state === "waiting") stopWaiting(connection);
  connection.failure = new CancelledError();
  connection.state = "ready";
}

/** The connection is gone: all it had is rolled back, its locks are free. */
export function closeConnection(connection: Connection): void {
  if (connection.state === "waiting") stopWaiting(connection);
  const { steps } = connection;
  connection.steps = undefined;
  connection.answer = undefined;
  steps?.return();
  connection.state = "idle";
  connection.appLocks.clear();
  endTransaction(connection);
  connection.world.closeSnapshot(connection);
  connection.world.forget(connection);
}

// ---- running on

function fail(connection: Connection, error: Error): void {
  connection.observe(error.message);
  const { steps } = connection;
  if (steps === undefined) throw new Error(`Connection ${connection.id} has no request`);
  settle(connection, () => steps.throw(error));
}

function advance(connection: Connection, reply: Reply): void {
  const { steps } = connection;
  if (steps === undefined) throw new Error(`Connection ${connection.id} has no request`);
  settle(connection, () => steps.next(reply));
}

function settle(
  connection: Connection,
  resume: () => IteratorResult<Connection["pending"], void>,
): void {
  let result: IteratorResult<Connection["pending"], void>;
  try {
    result = resume();
  } catch (error) {
    end(connection);
    throw error;
  }
  if (result.done === true) {
    end(connection);
    return;
  }
  connection.pending = result.value;
}

/** A finished request leaves its answer, and what it has open; what it saw no longer matters. */
function end(connection: Connection): void {
  connection.steps = undefined;
  connection.pending = undefined;
  connection.state = "idle";
  connection.forgetObserved();
}

// ---- running alone

/** Runs a request to its end without a move of others; to wait for a lock is a fault. */
export function runAlone(connection: Connection, request: Work): CollectedAnswer {
  const answer = new CollectedAnswer();
  startRequest(connection, request, answer, (result) => {
    answer.returnStatus = result.returnStatus;
    answer.outputs = result.outputs;
    answer.isCancelled = result.isCancelled;
  });
  while (connection.state === "ready") step(connection);
  if (connection.state !== "idle") {
    const wait = connection.world.locks.waitOf(connection.id);
    throw new Error(
      `Connection ${connection.id} waits for ${wait?.mode ?? ""} ${wait?.resource ?? "?"} with nobody else moving`,
    );
  }
  return answer;
}

// ---- traces

function describe(connection: Connection): string {
  const { moduleName, line } = connection.place;
  return `${connection.id} ${moduleName === "" ? "batch" : moduleName}:${line}`;
}

function trace(connection: Connection, verb: string, ask: Ask | undefined): void {
  if (ask === undefined || connection.world.trace === undefined) return;
  const about = ask.about === undefined ? "" : ` because of ${ask.about}`;
  connection.world.trace.push(
    `${describe(connection)} ${verb} ${ask.mode} ${ask.resource}${about}`,
  );
}
