import type { OperatorInput } from "../ports/task-store";
import type { AdminTools } from "./admin-tools";

/** What a pause or resume did; exists: it was so already. */
export interface PauseReport {
  readonly definition: string;
  readonly status: "paused" | "resumed" | "exists";
}

/** Nothing new of the definition starts until resumed; running tasks go on. */
export async function pauseDefinition(
  { store }: AdminTools,
  change: OperatorInput,
): Promise<PauseReport> {
  const { status } = await store.pauseDefinition(change);
  return { definition: change.name, status };
}

/** Takes a pause away; leaves a hint when tasks wait. */
export async function resumeDefinition(
  { store, wakeUp }: AdminTools,
  change: OperatorInput,
): Promise<PauseReport> {
  const { status, ready } = await store.resumeDefinition(change);
  if (ready) await wakeUp.hint(change.name);
  return { definition: change.name, status };
}
