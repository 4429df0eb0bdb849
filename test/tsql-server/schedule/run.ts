import { CollectedAnswer } from "../engine/answer";
import type { Connection } from "../engine/connection";
import type { Work } from "../engine/requests";
import type { World } from "../engine/world";
import type { SqlValue } from "../values";
import { fingerprint } from "./fingerprint";
import { closeConnection, startRequest, step, timeIsUp } from "./step";

/*
 * A scenario is a world and callers, each with its requests; a run of it takes one choice after the other. Searches,
 * samples and replays differ only in who chooses.
 */

/** A case of concurrency. Everything it makes must be the same each time: runs are repeated. */
export interface Scenario {
  /** A new world, with nothing under way: `fork()` of a prepared one. */
  readonly world: () => World;
  readonly callers: readonly Caller[];
  /** The error after a step, or undefined. Looks at the world and at the step; never at how it came to be. */
  readonly afterStep?: (run: Run, report: StepReport) => string | undefined;
  /** The error at the end, when all callers have ended, or undefined. */
  readonly atEnd?: (run: Run) => string | undefined;
  /** Callers that may lose their connection at any step. */
  readonly cuttable?: readonly number[];
  /** May a LOCK_TIMEOUT end while another could still move? Else it ends only where none can. */
  readonly mayTimeOut?: boolean;
}

/** One connection with its requests, each after the answer of the one before. */
export interface Caller {
  readonly name: string;
  /** The next request, by the answers so far; undefined: no more. */
  readonly next: (answers: readonly CollectedAnswer[]) => Work | undefined;
  /** Before its first request. */
  readonly prepare?: (connection: Connection) => void;
}

/** A caller with requests that don't depend on answers. */
export function callerOf(name: string, requests: readonly Work[]): Caller {
  return { name, next: (answers) => requests[answers.length] };
}

/** A caller takes its next step, loses its connection, or waits no longer. Callers are numbered from 0. */
export interface Choice {
  readonly caller: number;
  readonly action: ChoiceAction;
}

export type ChoiceAction = "step" | "cut" | "timeUp";

const marks: Readonly<Record<ChoiceAction, string>> = { step: "", cut: "x", timeUp: "t" };

/** `1 1 2 1x`: caller 1 steps twice, caller 2 once, then the connection of caller 1 is cut; `t`: its time is up. */
export function printSchedule(schedule: readonly Choice[]): string {
  return schedule.map(({ caller, action }) => `${String(caller + 1)}${marks[action]}`).join(" ");
}

/** Reads what printSchedule has written. */
export function parseSchedule(text: string): Choice[] {
  return text
    .split(/\s+/)
    .filter((word) => word !== "")
    .map((word) => {
      const match = /^(\d+)([xt]?)$/.exec(word);
      if (match === null)
        throw new Error(`Expected a caller's number, perhaps with x or t, found ${word}`);
      const action: ChoiceAction = match[2] === "x" ? "cut" : match[2] === "t" ? "timeUp" : "step";
      return { caller: Number(match[1]) - 1, action };
    });
}

/** What a choice has done. */
export interface StepReport {
  readonly choice: Choice;
  /** The caller now stands in a queue: for what, and behind whom. */
  readonly wait:
    | { readonly resource: string; readonly mode: string; readonly behind: readonly number[] }
    | undefined;
  /** Rows that READPAST stepped over in this step. */
  readonly skipped: number;
  /** Circles of waiters that this step closed and the engine broke. */
  readonly deadlocks: number;
  /** The request that ended with this step. */
  readonly ended: CollectedAnswer | undefined;
}

/** Where one caller stands. */
export interface CallerState {
  readonly name: string;
  readonly connection: Connection;
  readonly answers: readonly CollectedAnswer[];
  /** No request is left, or the connection is cut. */
  readonly isDone: boolean;
  readonly isCut: boolean;
}

class MutableCaller implements CallerState {
  readonly caller: Caller;
  readonly connection: Connection;
  readonly answers: CollectedAnswer[] = [];
  /** All answers as text: they decide about the next step, and are compared with states. */
  said = "";
  current: CollectedAnswer | undefined;
  isDone = false;
  isCut = false;

  constructor(caller: Caller, connection: Connection) {
    this.caller = caller;
    this.connection = connection;
  }

  get name(): string {
    return this.caller.name;
  }
}

const rollback: Work = { kind: "transaction", action: "rollback", level: 0 };

/** One run of a scenario. */
export class Run {
  readonly scenario: Scenario;
  readonly world: World;
  readonly schedule: Choice[] = [];
  readonly #callers: readonly MutableCaller[];

  /** `isObserved`: states can be compared by `fingerprint`. */
  constructor(scenario: Scenario, isObserved = false) {
    this.scenario = scenario;
    this.world = scenario.world();
    this.world.isObserved = isObserved;
    this.#callers = scenario.callers.map((caller) => {
      const connection = this.world.connect();
      caller.prepare?.(connection);
      return new MutableCaller(caller, connection);
    });
    for (const caller of this.#callers) this.#begin(caller);
  }

  get callers(): readonly CallerState[] {
    return this.#callers;
  }

  /** Everything that may happen next; nothing when all have ended, or when all wait for ever. */
  choices(): Choice[] {
    const choices: Choice[] = [];
    for (const [caller, { connection, isDone }] of this.#callers.entries()) {
      if (!isDone && connection.state === "ready") choices.push({ caller, action: "step" });
    }
    if (choices.length === 0 || this.scenario.mayTimeOut === true)
      choices.push(...this.#timeOuts());
    for (const caller of this.scenario.cuttable ?? []) {
      if (this.#callers[caller]?.isDone === false) choices.push({ caller, action: "cut" });
    }
    return choices;
  }

  #timeOuts(): Choice[] {
    return [...this.#callers.entries()]
      .filter(
        ([, { connection }]) =>
          connection.state === "waiting" && connection.settings.lockTimeoutMs > 0,
      )
      .map(([caller]) => ({ caller, action: "timeUp" }));
  }

  /** Callers that wait although none can move: for the lock of a caller that is gone, or in an unseen circle. */
  get stuck(): readonly CallerState[] {
    return this.#callers.filter(({ isDone }) => !isDone);
  }

  take(choice: Choice): StepReport {
    const caller = this.#callers[choice.caller];
    if (caller === undefined) throw new Error(`There is no caller ${String(choice.caller + 1)}`);
    this.schedule.push(choice);
    const { connection, current } = caller;
    const { metrics } = connection;
    const before = { deadlocks: this.world.deadlocks, skipped: metrics.rowsSkipped };
    this.#act(caller, choice.action);
    const report: StepReport = {
      choice,
      wait: this.#waitOf(connection),
      // A request that has just begun counts from 0.
      skipped: connection.metrics === metrics ? metrics.rowsSkipped - before.skipped : 0,
      deadlocks: this.world.deadlocks - before.deadlocks,
      ended: current !== undefined && caller.answers.at(-1) === current ? current : undefined,
    };
    return report;
  }

  #act(caller: MutableCaller, action: ChoiceAction): void {
    switch (action) {
      case "step":
        step(caller.connection);
        this.#settle(caller);
        return;
      case "timeUp":
        timeIsUp(caller.connection);
        return;
      case "cut":
        closeConnection(caller.connection);
        caller.isCut = true;
        caller.isDone = true;
    }
  }

  #waitOf(connection: Connection): StepReport["wait"] {
    if (connection.state !== "waiting") return undefined;
    const wait = this.world.locks.waitOf(connection.id);
    if (wait === undefined) return undefined;
    return { ...wait, behind: this.world.locks.blockersOf(connection.id) };
  }

  /** Goes on with the caller's requests until one of them stops at a scheduling point. */
  #settle(caller: MutableCaller): void {
    while (!caller.isDone && caller.connection.state === "idle") {
      const { current } = caller;
      if (current !== undefined) {
        caller.answers.push(current);
        caller.said += `${textOf(current)}\n`;
        caller.current = undefined;
      }
      this.#begin(caller);
    }
  }

  #begin(caller: MutableCaller): void {
    const request = this.#nextRequest(caller);
    if (request === undefined) {
      caller.isDone = true;
      return;
    }
    const answer = new CollectedAnswer();
    caller.current = answer;
    startRequest(caller.connection, request, answer, (result) => {
      answer.returnStatus = result.returnStatus;
      answer.outputs = result.outputs;
      answer.isCancelled = result.isCancelled;
    });
    this.#settle(caller);
  }

  /** A caller that ends inside a transaction is rolled back, as a connection that goes away is. */
  #nextRequest(caller: MutableCaller): Work | undefined {
    const request = caller.caller.next(caller.answers);
    if (request !== undefined) return request;
    return caller.connection.transactionCount > 0 ? rollback : undefined;
  }

  /** All that decides how this run can go on, and what its checks can see. */
  fingerprint(): string {
    const callers = this.#callers.map(
      ({ said, isDone, isCut }) => `${isCut ? "cut" : isDone ? "done" : ""} ${said}`,
    );
    return `${fingerprint(this.world)}\n${callers.join("\n")}`;
  }
}

/** An answer as text: what a caller knows, and nothing of how it came. */
function textOf(answer: CollectedAnswer): string {
  const sets = answer.rowSets.map(({ rows }) =>
    rows.map((row) => row.map(printValue).join(",")).join(";"),
  );
  const outputs = answer.outputs.map(({ name, value }) => `${name}=${printValue(value)}`);
  const errors = answer.errors.map(({ number }) => number);
  return [sets.join("|"), outputs.join(","), errors.join(","), answer.returnStatus ?? ""].join(" ");
}

function printValue(value: SqlValue): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString("hex") : String(value);
}
