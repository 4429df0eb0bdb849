import type { Asked } from "../client/start-execution";
import type { WorkerEnvironment } from "../environment";
import { pause } from "./pause";
import { TokenPollSchedule } from "./token-poll-schedule";

/** How long a denied worker asks again. */
const lookForMs = 2_500;

/**
 * Asks for tokens. After a denial that the store noted, the worker asks again for two and a half seconds: a hint
 * for a released token may wake a process that holds tokens already. The hint of the releasing process tells of later ones.
 */
export async function askForTokens(
  environment: WorkerEnvironment,
  ask: () => Promise<Asked>,
  until: { atMs: number; signal: AbortSignal },
): Promise<Asked> {
  let asked = await ask();
  if (asked.started.demand !== "noted") return asked;
  const nowMs = environment.clock.monotonicMs();
  const endMs = Math.min(until.atMs, nowMs + lookForMs);
  const polls = new TokenPollSchedule(nowMs);
  while (asked.started.status === "limited") {
    if (asked.started.demand === "noted") polls.pollOften(environment.clock.monotonicMs());
    if (polls.nextPollMs >= endMs) return asked;
    await pause(
      environment.timers,
      polls.nextPollMs - environment.clock.monotonicMs(),
      until.signal,
    );
    if (until.signal.aborted) return asked;
    polls.notePoll(environment.clock.monotonicMs());
    asked = await ask();
  }
  return asked;
}
