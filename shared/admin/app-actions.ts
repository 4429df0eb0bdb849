/** Several apps on one database: which of them a definition belongs to. */
import type { DefinitionStatus, TaskStore } from "../ports/task-store";

/** A definition, with the app that runs its tasks. */
export interface DefinitionReport extends DefinitionStatus {
  /** null: no app has said that it is its own. */
  readonly app: string | null;
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
