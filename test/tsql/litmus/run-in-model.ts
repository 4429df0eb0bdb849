import { CollectedAnswer } from "../../tsql-server/engine/answer";
import type { Connection } from "../../tsql-server/engine/connection";
import { loadScript } from "../../tsql-server/engine/load";
import type { EngineName, EngineOptions } from "../../tsql-server/engine/options";
import { engines } from "../shipped/engines";
import { World } from "../../tsql-server/engine/world";
import {
  closeConnection,
  readyConnections,
  startRequest,
  step,
} from "../../tsql-server/schedule/step";
import type { SqlValue } from "../../tsql-server/values";
import { onEngine } from "./litmus-case";
import type { ConnectionName, Ended, LitmusCase, Locks, Outcome, Row, Step } from "./litmus-case";

/** What one step did, in the words of a case: two of these are compared. */
export interface StepResult {
  readonly step: string;
  readonly then: Outcome;
  readonly wakes: Readonly<Partial<Record<ConnectionName, Ended>>>;
  readonly locks: Locks | undefined;
}

/** What a case wants on an engine. */
export function expectedResults(litmus: LitmusCase, engine: EngineName): StepResult[] {
  return stepsOn(litmus, engine).map((one) => {
    const then = onEngine(one.then, engine);
    return {
      step: `${one.on}: ${one.sql}`,
      then: typeof then === "string" ? then : complete(then),
      wakes: mapValues(onEngine(one.wakes ?? {}, engine), complete),
      locks: one.locks === undefined ? undefined : onEngine(one.locks, engine),
    };
  });
}

/**
 * Plays a case in the model. Row sets and locks that a case doesn't look at are left out. `switches` changes what sources
 * leave in doubt.
 */
export function runInModel(
  litmus: LitmusCase,
  engine: EngineName,
  switches: Partial<EngineOptions> = {},
): StepResult[] {
  const world = new World({ ...engines[engine], ...switches });
  loadScript(world, litmus.setup, "setup");
  const play = new Play(world);
  const wanted = expectedResults(litmus, engine);
  const results = stepsOn(litmus, engine).map((one, index) => play.take(one, wanted[index]));
  play.close();
  return results;
}

/** Steps of a case that are taken on an engine. */
export function stepsOn(litmus: LitmusCase, engine: EngineName): Step[] {
  return litmus.steps.filter(({ only }) => only?.includes(engine) ?? true);
}

class Play {
  readonly #world: World;
  readonly #connections = new Map<ConnectionName, Connection>();

  constructor(world: World) {
    this.#world = world;
  }

  take(one: Step, wanted: StepResult | undefined): StepResult {
    const { on, sql } = one;
    const connection = this.#connection(on);
    const waiting = this.#waiting();
    const deadlocks = this.#world.deadlocks;
    if (connection.state !== "idle")
      throw new Error(`${on} still waits and can't be asked: ${sql}`);
    startRequest(connection, { kind: "batch", sql });
    this.#run(connection);
    const locks = wanted?.locks === undefined ? undefined : this.#locksOf(connection);
    const stepText = `${on}: ${sql}`;
    if (wanted?.then === "deadlock" && this.#world.deadlocks > deadlocks) {
      const ended = [on, ...waiting].map((name) => this.#outcome(name, { errors: [] }));
      return { step: stepText, then: isBroken(ended) ? "deadlock" : "waits", wakes: {}, locks };
    }
    const wakes: Partial<Record<ConnectionName, Ended>> = {};
    for (const name of waiting) {
      const outcome = this.#outcome(name, wanted?.wakes[name]);
      if (typeof outcome !== "string") wakes[name] = outcome;
    }
    const then = this.#outcome(on, typeof wanted?.then === "string" ? undefined : wanted?.then);
    return { step: stepText, then, wakes, locks };
  }

  close(): void {
    for (const connection of this.#connections.values()) closeConnection(connection);
  }

  #connection(name: ConnectionName): Connection {
    let connection = this.#connections.get(name);
    if (connection === undefined) {
      connection = this.#world.connect();
      this.#connections.set(name, connection);
    }
    return connection;
  }

  #waiting(): ConnectionName[] {
    return [...this.#connections]
      .filter(([, { state }]) => state === "waiting")
      .map(([name]) => name);
  }

  /** The one that was asked first, then those it has woken, one after the other. */
  #run(first: Connection): void {
    while (first.state === "ready") step(first);
    for (
      let next = readyConnections(this.#world)[0];
      next !== undefined;
      next = readyConnections(this.#world)[0]
    ) {
      while (next.state === "ready") step(next);
    }
  }

  #outcome(name: ConnectionName, wanted: Ended | undefined): Outcome {
    const connection = this.#connection(name);
    if (connection.state !== "idle") return "waits";
    const { answer } = connection;
    if (!(answer instanceof CollectedAnswer)) throw new Error(`${name} has no answer`);
    const errors = answer.errors.map(({ number }) => number);
    if (wanted !== undefined && wanted.rows === undefined) return { errors };
    return { rows: (answer.rowSets.at(-1)?.rows ?? []).map(toRow), errors };
  }

  #locksOf(connection: Connection): Locks {
    const counts: Record<string, number> = {};
    for (const [resource, mode] of this.#world.locks.locksOf(connection.id)) {
      const what = /^KEY \w+\.\w+\.(\w+)/.exec(resource)?.[1] ?? /^XACT/.exec(resource)?.[0];
      if (what === undefined) continue;
      const name = `${what} ${mode}`;
      counts[name] = (counts[name] ?? 0) + 1;
    }
    return counts;
  }
}

/** One is killed, the others go on; those that still wait behind them are no part of it. */
function isBroken(ended: readonly Outcome[]): boolean {
  const killed = ended.filter((one) => typeof one !== "string" && one.errors?.includes(1205));
  const others = ended.filter((one) => typeof one !== "string" && one.errors?.length === 0);
  return killed.length === 1 && killed.length + others.length === ended.length;
}

/** With both parts present, so that results can be compared as they are. */
function complete(ended: Ended): Ended {
  return { ...ended, errors: ended.errors ?? [] };
}

/** A row of an answer as cases write it. */
export function toRow(row: readonly SqlValue[]): Row {
  return row.map(plain);
}

function plain(value: SqlValue): Row[number] {
  if (typeof value === "bigint") return Number(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  return value;
}

function mapValues<Key extends string, Value, Result>(
  record: Readonly<Partial<Record<Key, Value>>>,
  map: (value: Value) => Result,
): Partial<Record<Key, Result>> {
  const result: Partial<Record<Key, Result>> = {};
  for (const key of Object.keys(record) as Key[]) {
    const value = record[key];
    if (value !== undefined) result[key] = map(value);
  }
  return result;
}
