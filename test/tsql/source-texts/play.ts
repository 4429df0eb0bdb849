import { CollectedAnswer } from "../../tsql-server/engine/answer";
import type { Connection } from "../../tsql-server/engine/connection";
import type { EngineName, EngineOptions } from "../../tsql-server/engine/options";
import { engines } from "../shipped/engines";
import { World } from "../../tsql-server/engine/world";
import { loadScript } from "../../tsql-server/engine/load";
import { closeConnection, startRequest, step } from "../../tsql-server/schedule/step";
import type { SqlValue } from "../../tsql-server/values";
import { readLocks } from "./lock-list";
import type { HeldLock } from "./lock-list";

/*
 * A scene of two or three people at their own connections: each does one thing after the other, as far as it comes. What
 * happens with locks is kept as events, to be printed or asserted.
 */

/** One act of an actor. */
export interface Act {
  readonly who: string;
  /** A batch; or the connection is cut, or a stopped batch goes on. */
  readonly sql: string;
  /** Stops at the first point of this reason, as in the trace: "commit". */
  readonly stopsBefore?: string;
  /** Why, for the reader. */
  readonly note?: string;
}

export interface Scene {
  readonly title: string;
  /** The rows before the first act. */
  readonly prepare: (options: EngineOptions) => World;
  readonly acts: readonly Act[];
}

export type SceneEvent =
  | {
      readonly kind: "act";
      readonly who: string;
      readonly text: string;
      readonly note: string | undefined;
    }
  | ({ readonly kind: "lock"; readonly who: string; readonly verb: LockVerb } & LockEvent)
  | { readonly kind: "deadlock"; readonly text: string }
  | {
      readonly kind: "answer";
      readonly who: string;
      readonly rows: readonly EventRow[];
      readonly errors: readonly number[];
    }
  | { readonly kind: "list"; readonly locks: readonly HeldLock[] };

export type LockVerb = "takes" | "has" | "skips" | "waits for" | "may not wait for";
export type EventRow = Readonly<Record<string, string | number | null>>;

interface LockEvent {
  readonly mode: string;
  readonly resource: string;
  /** Whom a waiter stands behind. */
  readonly behind: readonly string[];
  /** With optimized locking: the key because of which it waits for a transaction. */
  readonly about: string | undefined;
  /** Where the statement stands: procedure and line of its file. */
  readonly place: string;
}

/** What a scene has come to. */
export interface Played {
  readonly engine: EngineName;
  readonly events: readonly SceneEvent[];
  readonly world: World;
}

/** Plays a scene on one engine. */
export function play(scene: Scene, engine: EngineName): Played {
  const world = scene.prepare(engines[engine]);
  const player = new Player(world);
  for (const act of scene.acts) player.act(act);
  return { engine, events: player.events, world };
}

/** A database with nothing but this. */
export function fromScript(text: string): Scene["prepare"] {
  return (options) => {
    const world = new World(options);
    loadScript(world, text, "setup");
    return world;
  };
}

/** In place of a batch: the connection is lost. */
export const cut = "cut";
/** In place of a batch: what stopped goes on. */
export const goOn = "go on";

interface Person {
  readonly name: string;
  readonly connection: Connection;
  answer: CollectedAnswer | undefined;
  stopsBefore: string | undefined;
}

class Player {
  readonly events: SceneEvent[] = [];
  readonly #world: World;
  readonly #people = new Map<string, Person>();

  constructor(world: World) {
    this.#world = world;
    world.trace = [];
  }

  act({ who, sql, note, stopsBefore }: Act): void {
    const person = this.#person(who);
    const text = sql === cut ? "loses the connection" : sql === goOn ? "goes on" : sql;
    this.events.push({ kind: "act", who, text, note });
    person.stopsBefore = stopsBefore;
    if (sql === cut) {
      closeConnection(person.connection);
      person.answer = undefined;
      this.#people.delete(who);
    } else if (person.connection.state === "idle") {
      person.answer = new CollectedAnswer();
      startRequest(person.connection, { kind: "batch", sql }, person.answer);
    } else if (sql !== goOn) {
      throw new Error(`${who} can't do anything: the connection is ${person.connection.state}`);
    }
    this.#runOn(person);
    this.events.push({ kind: "list", locks: this.locks() });
  }

  locks(): HeldLock[] {
    return readLocks(this.#world, (session) => this.#nameOf(session));
  }

  /** The actor goes on as far as it comes, then each one that it has woken. */
  #runOn(first: Person): void {
    const order = [first, ...[...this.#people.values()].filter((person) => person !== first)];
    for (let next = order.find(isReady); next !== undefined; next = order.find(isReady)) {
      step(next.connection);
      this.#collectTrace();
      this.#collectAnswer(next);
    }
    this.#collectTrace();
    for (const person of order) this.#collectAnswer(person);
  }

  #collectAnswer(person: Person): void {
    const { answer, connection } = person;
    if (answer === undefined || connection.state !== "idle") return;
    person.answer = undefined;
    this.events.push({
      kind: "answer",
      who: person.name,
      rows: answer.rowSets.flatMap((_set, place) => answer.objects(place).map(plain)),
      errors: answer.errors.map(({ number }) => number),
    });
  }

  #collectTrace(): void {
    for (const line of this.#world.trace ?? []) {
      const event = this.#readLine(line);
      if (event !== undefined) this.events.push(event);
    }
    this.#world.trace = [];
  }

  #readLine(line: string): SceneEvent | undefined {
    if (line.startsWith("deadlock of ")) {
      const text = line.replace(/\d+/g, (number) => this.#nameOf(Number(number)));
      return { kind: "deadlock", text };
    }
    const found = tracePattern.exec(line)?.groups;
    if (found === undefined) return undefined;
    return {
      kind: "lock",
      who: this.#nameOf(Number(found["session"])),
      verb: verbs[found["verb"] ?? ""] ?? "waits for",
      mode: found["mode"] ?? "",
      resource: found["resource"] ?? "",
      behind: (found["behind"] ?? "")
        .split(", ")
        .filter(Boolean)
        .map((number) => this.#nameOf(Number(number))),
      about: found["about"],
      place: found["place"] ?? "",
    };
  }

  #nameOf(session: number): string {
    const person = [...this.#people.values()].find(({ connection }) => connection.id === session);
    return person?.name ?? String(session);
  }

  #person(name: string): Person {
    let person = this.#people.get(name);
    if (person === undefined) {
      person = {
        name,
        connection: this.#world.connect(),
        answer: undefined,
        stopsBefore: undefined,
      };
      this.#people.set(name, person);
    }
    return person;
  }
}

function isReady({ connection, stopsBefore }: Person): boolean {
  if (connection.state !== "ready") return false;
  const { pending } = connection;
  return stopsBefore === undefined || pending?.kind !== "pause" || pending.reason !== stopsBefore;
}

/** As the steps write it: `2 Taskgate.Work:240 takes U KEY dbo.T.PK_T(1)`. */
const tracePattern =
  /^(?<session>\d+) (?<place>\S+) (?<verb>takes|has|skips|may not wait for|WAITS behind (?<behind>[\d, ]+) for) (?<mode>\S+) (?<resource>.+?)(?: because of (?<about>.+))?$/;

const verbs: Readonly<Record<string, LockVerb>> = {
  takes: "takes",
  has: "has",
  skips: "skips",
  "may not wait for": "may not wait for",
};

function plain(row: Readonly<Record<string, SqlValue>>): EventRow {
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) => [
      column,
      typeof value === "bigint"
        ? Number(value)
        : value === null
          ? null
          : typeof value === "number"
            ? value
            : String(value),
    ]),
  );
}
