import type { ExecutionId } from "../core/ids";
import type { Instants } from "../core/lease";
import type { StartExecutionAnswer } from "../ports/task-store";
import type { BatchPump } from "./batch-pump";
import type { Definition } from "./define-task";
import type { WorkerEnvironment } from "./environment";
import type { ProcessGate } from "./process-gate";
import type { Registry } from "./registry";

/** Why a loop ended; `rate`: the definition's rate lets nothing start for a while; `stuck`: a handler ran on after its time-out. */
export type LoopEnd =
  "idle" | "deadline" | "stopped" | "paused" | "rate" | "lost" | "failed" | "stuck";

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
  /** How long handlers may take to heed their signal; then they are left behind, with their tokens. */
  readonly abortGraceMs: number;
  /** Empty answers in a row after which the loop ends, and the pause before each further look. */
  readonly idleReads: number;
  readonly idlePauseMs: number;
  /** Ends the loop soon: the process is told to stop. */
  readonly signal: AbortSignal;
  /** Nothing more is claimed; what runs may finish. */
  readonly draining?: AbortSignal | undefined;
  /** Shared by all executions of the process: a suspect runs beside none of them. */
  readonly gate?: ProcessGate | undefined;
  /** Leaves hints for definitions that got ready tasks. */
  readonly wake: (definitions: readonly string[]) => void;
  /** Goes on opening waves. */
  readonly pump: Pick<BatchPump, "open" | "isOpening">;
}

/** While handlers run, what they don't wake the loop for is seen after so long. */
export const idleLookMs = 250;
/** A rate that lets the next task start within this time is waited for; else a delayed hint is cheaper. */
export const permitWaitMostMs = 1_000;
/** More than this worker can take: another one is called so often. One that finds no token costs one read. */
export const helpPauseMs = 5_000;
