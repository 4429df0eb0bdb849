import type { ExecutionId } from "../../core/ids";
import type { Instants } from "../../core/lease";
import type { StartExecutionAnswer } from "../../ports/task-store";
import type { BatchPump } from "./batch-pump";
import type { Definition } from "../define/task-kind";
import type { WorkerEnvironment } from "../environment";
import type { ProcessGate } from "./process-gate";
import type { Registry } from "../define/registry";
import type { Standby } from "./standby";

/** What the loop is made of. */
export interface LoopOptions {
  readonly environment: WorkerEnvironment;
  readonly registry: Registry;
  readonly definition: Definition;
  readonly started: StartExecutionAnswer & { executionId: ExecutionId };
  readonly sentAt: Instants;
  /** Tokens to hold when they can be had. */
  readonly tokensWanted: number;
  /** Nothing starts after this instant; `abortAtMs`: running handlers are told to stop. Monotonic. */
  readonly stopAtMs: number;
  readonly abortAtMs: number;
  /** How long handlers may take to end after their signal; then they are left behind, with their tokens. */
  readonly abortGraceMs: number;
  /** Empty answers in a row after which the loop ends, and the pause before each further look. */
  readonly idleReads: number;
  readonly idlePauseMs: number;
  /** Ends the loop soon: the process is told to stop. */
  readonly signal: AbortSignal;
  /** Nothing more is claimed; running handlers may finish. */
  readonly draining?: AbortSignal | undefined;
  /** Shared by all executions of the process: a suspect runs beside none of them. */
  readonly gate?: ProcessGate | undefined;
  /** Of an execution that waits for tasks to come; its pauses replace those above. */
  readonly standby?: Standby | undefined;
  /** Leaves hints for definitions that got ready tasks. */
  readonly wake: (definitions: readonly string[]) => void;
  /** Leaves a hint for another worker of the definition: there may be more tasks than this one can take. */
  readonly wakeMore: () => void;
  /** Goes on opening waves. */
  readonly pump: Pick<BatchPump, "open" | "isOpening">;
}

/** More than this worker can take: another one is called so often. One that finds no token costs one read. */
export const moreWorkersPauseMs = 5_000;
