import type { WorkerEnvironment } from "../environment";
import type { HeldTask } from "../client/transactions";
import type { Registry } from "../define/registry";
import type { RunnableKind } from "../define/task-kind";
import type { StopSignal } from "./stop-signal";

/** What the loop gives each run. */
export interface RunOptions {
  readonly environment: WorkerEnvironment;
  readonly held: HeldTask;
  readonly kind: RunnableKind | null;
  /** For kinds that a handler names by their text. */
  readonly registry: Registry;
  readonly definition: string;
  readonly stop: StopSignal;
  readonly timeLeftMs: () => number;
}
