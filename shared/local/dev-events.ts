import type { ResultTable } from "../ports/result-table";
import { shareOf } from "./live-frame";
import type { LiveState } from "./live-frame";
import type { Beginning, LocalRun } from "./local-run";
import type { BatchProgress, DeadLetter, Progress } from "./progress";
import type { WorkerState } from "./worker-hosts";

/** The lines of `taskgate dev --json`: one JSON object each, told apart by `event`. */
export type DevEvent =
  | { readonly event: "notice"; readonly text: string }
  | StartedEvent
  | ProgressEvent
  | DoneEvent;

/** Everything runs. */
interface StartedEvent {
  readonly event: "started";
  readonly app: string;
  /** Its title; null: without one. */
  readonly sample: string | null;
  readonly beginning: Beginning;
  /** The database, without its password. */
  readonly store: string;
  /** Null: no function of the app serves it. */
  readonly dashboard: string | null;
  readonly workers: number;
}

/** The run at one moment. */
interface ProgressEvent {
  readonly event: "progress";
  readonly elapsedMs: number;
  /** 0..1; null: not known yet. */
  readonly share: number | null;
  readonly estimatedLeftMs: number | null;
  readonly files: Progress["files"];
  readonly definitions: Progress["definitions"];
  readonly batches: readonly BatchProgress[];
  readonly workers: readonly WorkerState[];
  /** How often the workers were started again because the app was built anew. */
  readonly restarts: number;
}

/** The sample is done. */
export interface DoneEvent {
  readonly event: "done";
  readonly elapsedMs: number;
  /** Imported ones. */
  readonly files: number;
  /** Tasks that are done. */
  readonly tasks: number;
  readonly deadLetters: readonly DeadLetter[];
  readonly deadLettersExpected: number;
  /** Findings that aren't as expected, a sentence each; none: the run is good. */
  readonly problems: readonly string[];
  readonly results: readonly ResultTable[];
  readonly dashboard: string | null;
}

/** The event of a run that works. `store`: its database, for people. */
export function startedEvent(run: LocalRun, workers: number, store: string): StartedEvent {
  const { app, sample, beginning } = run;
  const dashboard = workers === 0 ? null : run.pageUrl();
  return {
    event: "started",
    app: app.name,
    sample: sample?.title ?? null,
    beginning,
    store,
    dashboard,
    workers,
  };
}

/** How often a line comes while nothing ends or begins anew: a log of a run stays short. */
const lineEveryMs = 5_000;

/** Events of the run's progress. */
export class EventView {
  readonly #tell: (event: DevEvent) => void;
  #toldAtMs = Number.NEGATIVE_INFINITY;
  #toldChanges = "";

  constructor(tell: (event: DevEvent) => void) {
    this.#tell = tell;
  }

  /** Tells when the last event is old enough, and at once where a worker has ended or the app was built anew. */
  draw(state: LiveState): void {
    const { progress, elapsedMs, leftMs, workers, restarts } = state;
    const changes = JSON.stringify([restarts, workers.map(({ ends }) => ends)]);
    if (changes === this.#toldChanges && elapsedMs - this.#toldAtMs < lineEveryMs) return;
    this.#toldChanges = changes;
    this.#toldAtMs = elapsedMs;
    const { files, definitions, batches } = progress;
    const share = shareOf(progress);
    const times = {
      elapsedMs: Math.round(elapsedMs),
      estimatedLeftMs: leftMs === null ? null : Math.round(leftMs),
    };
    const known = { share, files, definitions, batches, workers, restarts };
    this.#tell({ event: "progress", ...times, ...known });
  }
}
