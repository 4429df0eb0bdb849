import type { LocalApp } from "./local-app";
import type { LocalSample } from "./sample";
import type { StartOptions } from "./start-options";
import type { StepOutput } from "./steps";
import type { Teardown } from "./teardown";

/** What a run is made of. */
export interface RunPlan extends StepOutput {
  readonly options: StartOptions;
  readonly app: LocalApp;
  /** Null: the app runs without one. */
  readonly sample: LocalSample | null;
  /** Gets the end of everything that is started. */
  readonly teardown: Teardown;
  /** Aborted: start nothing more. */
  readonly signal: AbortSignal;
}
