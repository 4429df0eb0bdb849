import { splitBatches } from "../../shared/store/mssql/mssql-migrations";
import { sleep } from "../../shared/platform/real-clock";
import type { EngineName } from "../tsql-server/engine/options";
import type { ConnectionName, Ended, LitmusCase, Outcome, Step } from "../tsql/litmus/litmus-case";
import { expectedResults, stepsOn } from "../tsql/litmus/run-in-model";
import type { StepResult } from "../tsql/litmus/run-in-model";
import { cleanUpOf } from "../tsql/litmus/clean-up";
import { BatchConnection } from "./batch-connection";
import type { BatchAnswer } from "./batch-connection";
import { dropObjects } from "./drop-objects";
import type { LockView } from "./lock-view";

/** Where litmus tests are played. */
export interface Stage {
  readonly url: string;
  /** Takes the place of `dbo` in the cases. */
  readonly schema: string;
  /** undefined: what doesn't end is taken to wait, and locks aren't compared. */
  readonly view: LockView | undefined;
}

const pollMs = 15;
/** Without a view of the locks: as long without an answer means waiting. */
const silenceMs = 700;
/** A caller that is expected to end may wait until the deadlock monitor comes by: every 5 s [doc: Deadlocks guide]. */
const patienceMs = 8_000;
const stuckMs = 30_000;
const deadlockVictim = 1205;

/** Plays a case over connections of its own, one step after the other, and takes away what it made. */
export async function playLitmus(
  stage: Stage,
  litmus: LitmusCase,
  engine: EngineName,
): Promise<StepResult[]> {
  const play = new Play(stage);
  const wanted = expectedResults(litmus, engine);
  const results: StepResult[] = [];
  try {
    await runScript(stage, litmus.setup);
    for (const [index, step] of stepsOn(litmus, engine).entries()) {
      results.push(await play.take(step, wanted[index]));
    }
  } finally {
    await play.close();
    await clearStage(stage, litmus.setup);
  }
  return results;
}

/** Runs a script with its GOs, in the stage's schema. */
export async function runScript(stage: Stage, script: string): Promise<void> {
  const connection = await BatchConnection.open(stage.url, "taskgate litmus");
  try {
    for (const batch of splitBatches(inSchema(stage, script))) await connection.must(batch);
  } finally {
    await connection.close();
  }
}

/** Drops what a case made: what its set-up names, also beside the stage, and what its steps left on it. */
export async function clearStage(stage: Stage, setup: string): Promise<void> {
  const connection = await BatchConnection.open(stage.url, "taskgate litmus");
  try {
    for (const batch of cleanUpOf(inSchema(stage, setup))) await connection.run(batch);
    await dropObjects(connection, stage.schema);
  } finally {
    await connection.close();
  }
}

/** Cases are written for `dbo`. */
export function inSchema(stage: Stage, sql: string): string {
  return sql.replaceAll(/\bdbo\./g, `${stage.schema}.`);
}

/** A batch under way on a connection. */
interface Call {
  answer: BatchAnswer | undefined;
  failure: Error | undefined;
}

class Play {
  readonly #stage: Stage;
  readonly #connections = new Map<ConnectionName, BatchConnection>();
  readonly #calls = new Map<ConnectionName, Call>();

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  async take(step: Step, wanted: StepResult | undefined): Promise<StepResult> {
    const { on } = step;
    const waiting = this.#waiting();
    if (waiting.includes(on)) throw new Error(`${on} still waits and can't be asked: ${step.sql}`);
    await this.#start(step);
    await this.#settle(patientOf(step, wanted, waiting));
    const connection = await this.#connection(on);
    const { view } = this.#stage;
    const isCompared = wanted?.locks !== undefined && view !== undefined;
    const locks = isCompared ? await view.keys(connection.sessionId) : wanted?.locks;
    const text = `${on}: ${step.sql}`;
    if (wanted?.then === "deadlock") {
      const then = this.#isBroken([on, ...waiting]) ? "deadlock" : this.#outcome(on, undefined);
      return { step: text, then, wakes: {}, locks };
    }
    const wakes: Partial<Record<ConnectionName, Ended>> = {};
    for (const name of waiting) {
      const outcome = this.#outcome(name, wanted?.wakes[name]);
      if (typeof outcome !== "string") wakes[name] = outcome;
    }
    const own = typeof wanted?.then === "string" ? undefined : wanted?.then;
    return { step: text, then: this.#outcome(on, own), wakes, locks };
  }

  async close(): Promise<void> {
    await Promise.all([...this.#connections.values()].map((connection) => connection.close()));
  }

  async #connection(name: ConnectionName): Promise<BatchConnection> {
    const known = this.#connections.get(name);
    if (known !== undefined) return known;
    const connection = await BatchConnection.open(this.#stage.url, "taskgate litmus");
    this.#connections.set(name, connection);
    return connection;
  }

  async #start({ on, sql }: Step): Promise<void> {
    const connection = await this.#connection(on);
    const call: Call = { answer: undefined, failure: undefined };
    this.#calls.set(on, call);
    connection.run(inSchema(this.#stage, sql)).then(
      (answer) => {
        call.answer = answer;
      },
      (error: unknown) => {
        call.failure = error instanceof Error ? error : new Error(String(error));
      },
    );
  }

  /** Until every caller has ended or waits for a lock. */
  async #settle({ isPatient, until }: Patience): Promise<void> {
    const from = performance.now();
    for (let looks = 0; ; looks += 1) {
      const pending = this.#waiting();
      const spentMs = performance.now() - from;
      if (pending.length === 0) return;
      const isHopeful = !until(this.#calls) && spentMs < patienceMs;
      const isImpatient = !pending.some((name) => isPatient.has(name)) || !isHopeful;
      // Two looks: the first may have come between two locks.
      if (isImpatient && looks > 0 && (await this.#allWait(pending, spentMs))) return;
      if (spentMs > stuckMs) {
        throw new Error(
          `${pending.join(", ")} neither ended nor waited within ${String(stuckMs)} ms`,
        );
      }
      await sleep(pollMs);
    }
  }

  async #allWait(names: readonly ConnectionName[], spentMs: number): Promise<boolean> {
    const { view } = this.#stage;
    if (view === undefined) return spentMs > silenceMs;
    const waiting = await view.waiting();
    return names.every((name) => {
      const sessionId = this.#connections.get(name)?.sessionId;
      return sessionId !== undefined && waiting.has(sessionId);
    });
  }

  #waiting(): ConnectionName[] {
    return [...this.#calls]
      .filter(([, call]) => call.answer === undefined && call.failure === undefined)
      .map(([name]) => name);
  }

  /** One was killed, the others of the circle went on. */
  #isBroken(names: readonly ConnectionName[]): boolean {
    const errors = names.flatMap((name) => this.#calls.get(name)?.answer?.errors ?? []);
    return errors.length === 1 && errors[0] === deadlockVictim;
  }

  #outcome(name: ConnectionName, wanted: Ended | undefined): Outcome {
    const call = this.#calls.get(name);
    if (call?.failure !== undefined) throw call.failure;
    if (call?.answer === undefined) return "waits";
    const { errors, rows } = call.answer;
    return wanted !== undefined && wanted.rows === undefined ? { errors } : { rows, errors };
  }
}

/** For whom a look that finds them waiting doesn't settle it yet. */
interface Patience {
  readonly isPatient: ReadonlySet<ConnectionName>;
  /** What they wait for has come. */
  readonly until: (calls: ReadonlyMap<ConnectionName, Call>) => boolean;
}

function patientOf(
  step: Step,
  wanted: StepResult | undefined,
  waiting: readonly ConnectionName[],
): Patience {
  if (wanted?.then === "deadlock") {
    return {
      isPatient: new Set([step.on, ...waiting]),
      until: (calls) =>
        [...calls.values()].some((call) => call.answer?.errors.includes(deadlockVictim)),
    };
  }
  const woken = Object.keys(wanted?.wakes ?? {}) as ConnectionName[];
  const own = wanted?.then === "waits" ? [] : [step.on];
  return { isPatient: new Set([...own, ...woken]), until: () => false };
}
