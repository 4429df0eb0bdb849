import type { Instants } from "../core/lease";
import type { StartExecutionAnswer } from "../ports/task-store";
import type { WorkerEnvironment } from "./environment";
import { instants } from "./environment";

/** The last answer, and when its question was sent: the lease counts from there. */
export interface Asked {
  readonly sentAt: Instants;
  readonly started: StartExecutionAnswer;
}

/**
 * Pauses before each further look of somebody whose denial was noted: holders give between tasks, so a token idles for at
 * most half as long as it took to come. At most one worker a second and definition is noted: nobody else looks twice.
 */
const lookAgainMs = [50, 50, 75, 110, 170, 250, 380, 570, 850];

/**
 * Asks for tokens; denied and noted, it looks again for two and a half seconds: a hint for what is given may wake a process
 * that holds tokens already. What is given later is told by the giver's hint.
 */
export async function askForTokens(
  environment: WorkerEnvironment,
  ask: () => Promise<StartExecutionAnswer>,
  until: { atMs: number; signal: AbortSignal },
): Promise<Asked> {
  let asked = await askOnce(environment, ask);
  if (asked.started.demand !== "noted") return asked;
  for (const ms of lookAgainMs) {
    if (environment.clock.monotonicMs() + ms >= until.atMs) return asked;
    await pause(environment, ms, until.signal);
    if (until.signal.aborted) return asked;
    asked = await askOnce(environment, ask);
    if (asked.started.status !== "limited") return asked;
  }
  return asked;
}

async function askOnce(
  environment: WorkerEnvironment,
  ask: () => Promise<StartExecutionAnswer>,
): Promise<Asked> {
  const sentAt = instants(environment.clock);
  return { sentAt, started: await ask() };
}

/** Resolves after `ms`, or when `signal` is aborted. */
function pause(environment: WorkerEnvironment, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      cancel();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const cancel = environment.timers.after(ms, end);
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
  });
}
