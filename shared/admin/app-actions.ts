/**
 * Several apps on one database: which of them a definition belongs to, and how it is handed over.
 */
import type { DefinitionStatus, SetDefinitionOwnerInput, TaskStore } from "../ports/task-store";
import type { AdminTools } from "./admin-tools";
import { withoutConflict } from "./settings-conflict";

/** A definition, with the app that runs its tasks. */
export interface DefinitionReport extends DefinitionStatus {
  /** null: no app has said that it is its own. */
  readonly app: string | null;
}

/** What a hand-over did; exists: it was so already. */
export interface OwnerReport {
  readonly definition: string;
  readonly status: "set" | "exists";
  /** null: none. */
  readonly oldApp: string | null;
  readonly newApp: string | null;
}

/** All definitions by name, or the one, with their apps. Two reads. */
export async function listDefinitions(
  store: TaskStore,
  name?: string,
): Promise<DefinitionReport[]> {
  const [{ definitions }, { apps }] = await Promise.all([
    store.listDefinitions(name === undefined ? {} : { name }),
    store.listApps(),
  ]);
  const owners = new Map(
    apps.flatMap(({ app, definitions: own }) => own.map((of) => [of, app] as const)),
  );
  return definitions.map((definition) => ({
    ...definition,
    app: owners.get(definition.name) ?? null,
  }));
}

/** Hands a definition over to another app, or releases it; the hint tells the new one of tasks that wait. Throws SettingsConflict. */
export async function setOwner(
  { store, wakeUp }: AdminTools,
  input: SetDefinitionOwnerInput,
): Promise<OwnerReport> {
  const { oldApp, newApp, ...answer } = await store.setDefinitionOwner(input);
  const status = withoutConflict(answer.status);
  if (status === "set" && newApp !== null) await wakeUp.hint(input.name);
  return { definition: input.name, status, oldApp, newApp };
}
