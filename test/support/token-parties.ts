import type {
  ReleaseSurplusAnswer,
  StartExecutionAnswer,
  TaskStore,
} from "../../shared/ports/task-store";
import { countWantedBack } from "../../shared/worker/run/held-tokens";
import { startInput, startWorker } from "./builders";
import type { Worker } from "./builders";

/** The parties that ask for tokens, hold them and give some away, for tests of their moves. */

/** A process of that name asks for a first execution. */
export function ask(store: TaskStore, name: string, worker: string): Promise<StartExecutionAnswer> {
  return store.startExecution(startInput(name, { worker, want: 8 }));
}

/** A process of that name takes what it can get, 8 tokens at most. */
export function hold(store: TaskStore, name: string, worker: string): Promise<Worker> {
  return startWorker(store, name, { worker, want: 8 });
}

/** Gives what it should, down to `keep`. */
export function give(worker: Worker, keep = 0): Promise<ReleaseSurplusAnswer> {
  return worker.store.releaseSurplus({ executionId: worker.executionId, keep });
}

/** Tokens that are free for any worker, as a call of the hot path tells it. */
export async function freeTokensOf(worker: Worker): Promise<number> {
  return (await worker.work()).freeTokens;
}

/** Tokens that it should give back, as a call of the hot path tells it. */
export async function wantedBackOf(worker: Worker): Promise<number> {
  return countWantedBack(await worker.work());
}
