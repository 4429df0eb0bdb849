import type { ResultTable } from "../ports/result-table";
import type { StoreTransaction } from "../ports/task-store";
import type { Definition } from "../worker/define/task-kind";

/**
 * What `taskgate dev` wants to know about the sample pipeline. The sample belongs to the app (functions/tasks), so it is
 * loaded by the name that package.json gives under `taskgate.sample`: the host knows no task of the app.
 */
export interface LocalSample {
  /** One line for the banner. */
  readonly title: string;
  /** Registered before the first file lands, so that limits can be seen and changed from the start. */
  readonly definitions: readonly Definition[];
  /** The definition that takes files in: when it has no tasks left, all paced tasks are known. */
  readonly intakeDefinition: string;
  /** The definition whose limit `--limit`, `+` and `-` change; its tasks are what the progress bar counts. */
  readonly pacedDefinition: string;
  /** The dead letters of a complete run over the sample's own files. */
  readonly expectedDeadLetters: readonly ExpectedDeadLetter[];
  /** The files to place into the landing folder. */
  files(): Promise<SampleFile[]>;
  /** Would a file of that name be imported? Others are left where they are. */
  accepts(fileName: string): boolean;
  /** Makes the sample's own tables. Safe to run again. */
  setUp(transaction: StoreTransaction): Promise<void>;
  /** Removes them, for a run that begins afresh. */
  tearDown(transaction: StoreTransaction): Promise<void>;
  /** Ids of the events whose files were imported completely. */
  importedEvents(transaction: StoreTransaction): Promise<string[]>;
  /** The result tables as they are now. */
  results(transaction: StoreTransaction): Promise<ResultTable[]>;
}

/** A file of the sample. */
export interface SampleFile {
  readonly name: string;
  readonly content: Uint8Array;
}

/** A dead letter that belongs to a run that went well. */
export interface ExpectedDeadLetter {
  readonly definition: string;
  /** Part of its error. */
  readonly contains: string;
}
