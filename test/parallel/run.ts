import { asyncModelRun } from "fast-check";
import type { AsyncCommand } from "fast-check";
import { asBatchId, asTaskId } from "../../shared/core/ids";
import type { DefinitionSettings } from "../../shared/ports/task-store";
import { drain } from "../drill/drain";
import { defaultSettings, operationId } from "../support/builders";
import { Dice } from "../support/dice";
import type { Call } from "../tsql/histories/call";
import type { CallId } from "../tsql/histories/call-names";
import { eventsOf } from "../tsql/histories/events";
import { Knowledge } from "../tsql/histories/knowledge";
import type { Taste } from "../tsql/histories/knowledge";
import { Names } from "../tsql/histories/names";
import type { NameKind } from "../tsql/histories/names";
import { perform } from "../tsql/histories/perform";
import { chooseTaste } from "../tsql/histories/random-calls";
import { Side, UnknownName } from "../tsql/histories/side";
import type { HistoryStore } from "../tsql/histories/side";
import { Broken } from "./broken";
import { Ledger } from "./ledger";

/** Chooses what a party does next; undefined: nothing. */
export type Choose = (known: Knowledge, id: CallId) => Call | undefined;

/** The outcome. */
export interface RunResult {
  /** The calls that each party made. */
  readonly calls: readonly (readonly Call[])[];
  /** undefined: all promises were kept. */
  readonly broken: string | undefined;
  /** How often what happened. */
  readonly counts: ReadonlyMap<string, number>;
}

/** Calls that meet once don't always meet again: after so many runs they are believed to do no harm. */
export const repeats = 6;

const leaseMs = 1_000;

/** Where all meet: few tokens, few slots, short leases. */
const definitions: ReadonlyMap<string, DefinitionSettings> = new Map([
  ["alpha", { ...defaultSettings, limit: 2, leaseMs, retryAttempts: 2, retryBaseMs: 0 }],
  [
    "beta",
    { ...defaultSettings, limit: 3, leaseMs, prefetchMax: 0, groupSlots: 2, retryBaseMs: 0 },
  ],
]);

/** Each list is a party with a connection and executions of its own; all go on at the same time, and then comes the reckoning. */
export async function runParallel(
  store: HistoryStore,
  taste: Taste,
  lists: readonly Iterable<Step>[],
): Promise<RunResult> {
  const ground = new Ground(inTurn(store), await store.now());
  const parties = lists.map((_, index) => new Party(index, taste, ground));
  try {
    await ground.define(parties);
    const runs = lists.map((steps, index) => {
      const model = parties[index];
      if (model === undefined) throw new Error("There is a list without a party");
      return asyncModelRun(() => ({ model, real: ground }), steps);
    });
    const ends = await Promise.allSettled(runs);
    for (const end of ends) if (end.status === "rejected") throw end.reason;
    await ground.reckon();
    return result(parties, ground, undefined);
  } catch (error) {
    if (!(error instanceof Broken)) throw error;
    return result(parties, ground, error.message);
  }
}

/** Past the operations there is one connection: a call there waits for the calls begun before. */
function inTurn(store: HistoryStore): HistoryStore {
  let last: Promise<void> = Promise.resolve();
  const after = (begin: () => Promise<void>): Promise<void> => (last = last.then(begin));
  return {
    ...store,
    advance: (ms) => after(() => store.advance(ms)),
    requestCancel: (taskId) => after(() => store.requestCancel(taskId)),
  };
}

/** Parties of given calls. */
export function stepsFor(calls: readonly Call[]): Step[] {
  return calls.map((call) => new Step(() => call));
}

/** A taste that decides nothing: for given calls. */
export const noTaste: Taste = chooseTaste(new Dice(0));

function result(parties: readonly Party[], ground: Ground, broken: string | undefined): RunResult {
  const calls = parties.map((party) => party.calls.map((call) => ground.withNames(call)));
  return { calls, broken, counts: ground.counts };
}

/** One of those who work at the same time. */
class Party {
  readonly side: Side;
  readonly known: Knowledge;
  readonly calls: Call[] = [];
  readonly #letter: string;

  constructor(index: number, taste: Taste, ground: Ground) {
    this.side = ground.side.through(index);
    this.known = new Knowledge(taste, ground.tasks);
    // Operations of its own.
    this.known.operations = 1_000 * index;
    this.#letter = "abcdefgh".charAt(index);
  }

  nextId(): CallId {
    return `${this.#letter}${String(this.calls.length + 1)}`;
  }
}

/** One turn of a party. */
export class Step implements AsyncCommand<Party, Ground> {
  readonly #choose: Choose;

  constructor(choose: Choose) {
    this.#choose = choose;
  }

  check(): boolean {
    return true;
  }

  async run(party: Party, ground: Ground): Promise<void> {
    if (ground.isBroken) return;
    const call = this.#choose(party.known, party.nextId());
    if (call !== undefined) await ground.make(party, call);
  }
}

/** The store that all work on, and the known facts. */
class Ground {
  readonly side: Side;
  readonly ledger: Ledger;
  /** All answers so far. */
  readonly tasks: string[] = [];
  readonly counts = new Map<string, number>();
  isBroken = false;
  readonly #names = new EarlyNames();
  readonly #store: HistoryStore;

  constructor(store: HistoryStore, startMs: number) {
    this.#store = store;
    this.side = new Side(store, startMs, { names: this.#names });
    this.ledger = new Ledger(definitions, (kind, name) => this.#names.idOf(kind, name) ?? name);
  }

  async define(parties: readonly Party[]): Promise<void> {
    for (const [definition, settings] of definitions) {
      const settled = { definition, build: 1, hash: "hash-1", settings };
      const call: Call = { id: `define ${definition}`, do: "register", ...settled };
      const outcome = await perform(this.side, call);
      for (const { known } of parties) known.learn(call, outcome);
    }
  }

  async make(party: Party, call: Call): Promise<void> {
    try {
      const answered = this.ledger.send(call);
      party.calls.push(call);
      const outcome = await perform(party.side, call);
      for (const event of eventsOf(call, outcome)) {
        this.counts.set(event, (this.counts.get(event) ?? 0) + 1);
      }
      answered(outcome);
      party.known.learn(call, outcome);
    } catch (error) {
      // A given call, in another order than once.
      if (error instanceof UnknownName) return;
      this.isBroken = true;
      throw error;
    }
  }

  /** All is quiet: is it what has been told, is it sound, and does everything come to its end? */
  async reckon(): Promise<void> {
    const { store } = this.side;
    await this.#compare();
    const by = { changedBy: "the end" };
    for (const name of definitions.keys()) {
      await store.setLimit({ ...by, name, limit: "code", operationId: operationId() });
      await store.setRate({ ...by, name, rate: "code" });
    }
    const tables = await this.#store.readTables();
    const left = await drain({
      store,
      names: [...definitions.keys()],
      batches: (tables["batch"] ?? []).map((row) => asBatchId(String(row["batchId"]))),
      leaseMs,
      advance: (ms) => this.#store.advance(ms),
      findLeft: async () => (await this.#store.readTables())["task"] ?? [],
    });
    if (left.length > 0) throw new Broken(`never end: ${JSON.stringify(left)}`);
    await this.#compareCounts();
  }

  async #compare(): Promise<void> {
    const { store } = this.side;
    const { status, findings } = await store.checkInvariants();
    if (status !== "sound") throw new Broken(`unsound: ${JSON.stringify(findings)}`);
    for (const task of this.ledger.fates.tasks) {
      const { facts } = await store.explainTask({ taskId: asTaskId(task) });
      this.ledger.fates.check(task, facts);
    }
  }

  /** None more than were added, none less. */
  async #compareCounts(): Promise<void> {
    const { store } = this.side;
    let ended = 0;
    for (const name of definitions.keys()) {
      for (const state of ["done", "dead", "cancelled"] as const) {
        ended += (await store.listTasks({ name, state, max: 1_000 })).tasks.length;
      }
    }
    const { size } = this.ledger.fates;
    if (ended !== size) throw new Broken(`${ended} tasks have ended, ${size} were added`);
  }

  /** The same call, with the names of calls without an answer when it was made. */
  withNames(call: Call): Call {
    const text = JSON.stringify(call).replaceAll(untold, (_, kind: NameKind, id: string): string =>
      this.#names.nameOf(kind, id),
    );
    return JSON.parse(text) as Call;
  }
}

const untold = /an untold (\w+) \((\d+)\)/g;

/** Tasks may be given to one party before another has been told that it added them. */
class EarlyNames extends Names {
  override idOf(kind: NameKind, name: string): string | undefined {
    return super.idOf(kind, name) ?? /^an untold \w+ \((\d+)\)$/.exec(name)?.[1];
  }
}
