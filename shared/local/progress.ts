import { countedMax } from "../core/counted";
import { firstLine } from "../core/text";
import type { BatchStatus, WaveStatus } from "../ports/task-store";
import type { DefinitionStatus } from "../ports/task-store";
import type { LocalRun } from "./local-run";
import type { ResultTable } from "../ports/result-table";
import type { ExpectedDeadLetter } from "./sample";

/** A task that ended as a dead letter. */
export interface DeadLetter {
  readonly definition: string;
  readonly task: string;
  readonly reason: string;
  /** ISO-8601 UTC; empty: not told. */
  readonly endedAt: string;
}

/** How far a batch is. */
export interface BatchProgress {
  readonly name: string;
  /** From 1: the wave that is open, or the last one. */
  readonly wave: number;
  readonly waves: number;
  /** Tasks of that wave, and those of them that have ended. */
  readonly total: number;
  readonly ended: number;
}

/** The pipeline at one moment. */
export interface Progress {
  readonly definitions: readonly DefinitionStatus[];
  /** Newest first, at most 200 of each definition. */
  readonly deadLetters: readonly DeadLetter[];
  /** Tasks of the paced definition, without a sample of all. Not known before every file was cut into tasks. */
  readonly paced: {
    readonly ended: number;
    readonly total: number;
    readonly isKnown: boolean;
    /** There are more tasks than the database counts. */
    readonly isCut: boolean;
    /** Of those that have not ended: tasks of paused definitions and of limits of 0, which no worker starts. */
    readonly stopped: number;
  };
  /** Tasks of all other definitions, as far as they exist by now. */
  readonly others: { readonly ended: number; readonly total: number };
  /** Files that landed, and those of them that were imported completely; null: without a sample none do. */
  readonly files: { readonly landed: number; readonly imported: number } | null;
  /** Those that run, oldest first. */
  readonly batches: readonly BatchProgress[];
  /** Nothing waits, nothing runs, no wave is still to open, every event was taken. Only a sample comes to an end. */
  readonly isSettled: boolean;
}

/** What a run that has ended is judged by. */
export interface Verdict {
  readonly isGood: boolean;
  /** Findings that aren't as expected, a sentence each. */
  readonly problems: readonly string[];
}

const deadLettersMax = 200;
/** The newest ones: a run has a few. */
const batchesMax = 20;

/** Reads the run's progress from its store. */
export class ProgressReader {
  readonly #run: LocalRun;
  /** By definition: how many there were at the last look, and which. */
  readonly #dead = new Map<string, { count: number; letters: DeadLetter[] }>();
  #imported: ReadonlySet<string> = new Set();

  constructor(run: LocalRun) {
    this.#run = run;
  }

  /** Three or four small reads; the list of dead letters only where their number has changed. */
  async read(): Promise<Progress> {
    const { store, queue, sample } = this.#run;
    // Events first: one that is taken between the two reads then shows as a task.
    const pending = await queue.pending();
    const landed = [...(this.#run.landing?.eventIds ?? [])];
    const { definitions } = await store.listDefinitions({});
    // Behind the definitions: blocked tasks are in none of their counts.
    const batches = (await store.listBatches({ max: batchesMax })).batches;
    const running = batches.filter(({ state }) => state === "running").reverse();
    const known = {
      deadLetters: await this.#readDeadLetters(definitions),
      batches: running.map(describeBatch),
    };
    if (sample === null) {
      const counted = withBlocked(countTasks(definitions), running, 0);
      const stopped = definitions.reduce((sum, definition) => sum + stoppedOf(definition), 0);
      const paced = { ...counted, isKnown: true, isCut: isCut(definitions), stopped };
      const nothing = { others: { ended: 0, total: 0 }, files: null, isSettled: false };
      return { ...known, ...nothing, definitions, paced };
    }
    const isIdle =
      pending === 0 &&
      running.length === 0 &&
      definitions.every((definition) => unfinished(definition) === 0);
    if (!landed.every((id) => this.#imported.has(id))) {
      const ids = await store.transaction((transaction) => sample.importedEvents(transaction));
      this.#imported = new Set(ids);
    }
    const imported = landed.filter((id) => this.#imported.has(id)).length;
    const intake = definitions.find(({ name }) => name === sample.intakeDefinition);
    const isTakenIn = pending === 0 && (intake === undefined || unfinished(intake) === 0);
    const isPaced = (definition: DefinitionStatus) => definition.name === sample.pacedDefinition;
    const paced = definitions.filter(isPaced);
    return {
      ...known,
      definitions: inOrder(definitions, sample.definitions),
      paced: { ...countTasks(paced), isKnown: isTakenIn, isCut: isCut(paced), stopped: 0 },
      others: withBlocked(countTasks(definitions.filter((row) => !isPaced(row))), running, 1),
      files: { landed: landed.length, imported },
      isSettled: isIdle && landed.length > 0,
    };
  }

  /** The result tables as they are now. */
  readResults(): Promise<ResultTable[]> {
    const { store, sample } = this.#run;
    if (sample === null) return Promise.resolve([]);
    return store.transaction((transaction) => sample.results(transaction));
  }

  async #readDeadLetters(definitions: readonly DefinitionStatus[]): Promise<DeadLetter[]> {
    for (const { name, dead } of definitions) {
      if (dead === (this.#dead.get(name)?.count ?? 0)) continue;
      const request = { name, state: "dead", max: deadLettersMax } as const;
      const { tasks } = await this.#run.store.listTasks(request);
      const letters = tasks.map(({ task, error, endedAt }) => {
        const reason = error ?? "no reason was given";
        return { definition: name, task, reason, endedAt: endedAt ?? "" };
      });
      this.#dead.set(name, { count: dead, letters });
    }
    return [...this.#dead.values()]
      .flatMap((entry) => entry.letters)
      .sort((left, right) => right.endedAt.localeCompare(left.endedAt));
  }
}

/** With tasks of waves that haven't opened. Of the sample they will be work of others: the paced ones are in the first wave. */
function withBlocked(
  { ended, total }: { ended: number; total: number },
  running: readonly BatchStatus[],
  firstWave: number,
): { ended: number; total: number } {
  const waves = running.flatMap((batch) => batch.waves.slice(firstWave));
  return { ended, total: total + waves.reduce((sum, wave) => sum + wave.blocked, 0) };
}

function describeBatch({ name, waves }: BatchStatus): BatchProgress {
  const at = waves.findIndex(({ state }) => state !== "done");
  const current: WaveStatus | undefined = waves.at(at);
  const { blocked = 0, admitted = 0, unfinished: left = 0 } = current ?? {};
  const wave = at === -1 ? waves.length : at + 1;
  return { name, wave, waves: waves.length, total: blocked + admitted, ended: admitted - left };
}

function countTasks(definitions: readonly DefinitionStatus[]): { ended: number; total: number } {
  const sum = (count: (definition: DefinitionStatus) => number): number =>
    definitions.reduce((total, definition) => total + count(definition), 0);
  const ended = sum(({ done, dead, cancelled }) => done + dead + cancelled);
  return { ended, total: ended + sum(unfinished) };
}

/** Is there a count at which the database has stopped? */
function isCut(definitions: readonly DefinitionStatus[]): boolean {
  return definitions.some(({ ready, scheduled, waiting, claimed, done, dead, cancelled }) =>
    [ready, scheduled, waiting, claimed, done, dead, cancelled].some(
      (count) => count >= countedMax,
    ),
  );
}

function stoppedOf(definition: DefinitionStatus): number {
  const { paused, limit, sharedLimits, ready, scheduled, waiting } = definition;
  const isStopped = paused || limit === 0 || sharedLimits.some((shared) => shared.limit === 0);
  return isStopped ? ready + scheduled + waiting : 0;
}

/** In the order of the sample, which is that of the work; others behind. */
function inOrder(
  definitions: readonly DefinitionStatus[],
  sample: readonly { readonly name: string }[],
): DefinitionStatus[] {
  const place = (definition: DefinitionStatus): number => {
    const at = sample.findIndex(({ name }) => name === definition.name);
    return at === -1 ? sample.length : at;
  };
  return [...definitions].sort((left, right) => place(left) - place(right));
}

/** Tasks of a definition that have not ended. */
export function unfinished(definition: DefinitionStatus): number {
  const { ready, scheduled, waiting, claimed } = definition;
  return ready + scheduled + waiting + claimed;
}

/** Did a settled run end as it should: every file imported, the expected dead letters and no others? */
export function judge(
  progress: Progress,
  given: { expected: readonly ExpectedDeadLetter[]; poisoned: number },
): Verdict {
  const problems: string[] = [];
  const { landed, imported } = progress.files ?? { landed: 0, imported: 0 };
  if (imported < landed) {
    problems.push(`${String(landed - imported)} of ${String(landed)} files were not imported.`);
  }
  if (given.poisoned > 0) {
    problems.push(`${String(given.poisoned)} events are in the poison queue: see the log.`);
  }
  const unexplained = [...progress.deadLetters];
  for (const { definition, contains } of given.expected) {
    const at = unexplained.findIndex(
      (letter) => letter.definition === definition && letter.reason.includes(contains),
    );
    if (at === -1) problems.push(`A dead letter of ${definition} is missing: ${contains}`);
    else unexplained.splice(at, 1);
  }
  for (const { definition, task, reason } of unexplained) {
    problems.push(`Task ${task} of ${definition} is a dead letter: ${firstLine(reason)}`);
  }
  return { isGood: problems.length === 0, problems };
}
