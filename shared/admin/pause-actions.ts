import type { ResumeInput } from "../ports/task-store";
import type { AdminTools } from "./admin-tools";
import { withoutConflict } from "./settings-conflict";

/** What a pause or resume did; exists: it was so already. */
export interface PauseReport {
  readonly definition: string;
  readonly status: "paused" | "resumed" | "exists";
}

/** Nothing new of the definition starts until resumed; running tasks go on. Throws SettingsConflict. */
export async function pauseDefinition(
  { store }: AdminTools,
  change: ResumeInput,
): Promise<PauseReport> {
  const { status } = await store.pauseDefinition(change);
  return { definition: change.name, status: withoutConflict(status) };
}

/** Takes a pause away; leaves a hint when tasks wait. Throws SettingsConflict. */
export async function resumeDefinition(
  { store, wakeUp }: AdminTools,
  change: ResumeInput,
): Promise<PauseReport> {
  const { status, ready } = await store.resumeDefinition(change);
  if (ready) await wakeUp.hint(change.name);
  return { definition: change.name, status: withoutConflict(status) };
}
