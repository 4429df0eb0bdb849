import type { Definition } from "./define-task";
import type { WorkerEnvironment } from "./environment";
import type { Registry } from "./registry";

/** Writes the code's settings of a definition; an older build than the database's changes nothing. Idempotent. */
export async function register(
  environment: WorkerEnvironment,
  definition: Definition,
): Promise<void> {
  const answer = await environment.store.registerDefinition({
    name: definition.name,
    build: environment.build,
    settingsHash: definition.settingsHash,
    registeredBy: `${environment.workerName} (build ${String(environment.build)})`,
    settings: definition.settings,
  });
  if (answer.status !== "exists") {
    environment.logger.info("definition registered", {
      definition: definition.name,
      status: answer.status,
    });
  }
}

/**
 * Registers all definitions of this build, `own` last: where one of a build is known, all are, so a handler's children
 * never meet a definition that nobody has registered.
 */
export async function registerAll(
  environment: WorkerEnvironment,
  registry: Registry,
  own: Definition,
): Promise<void> {
  for (const definition of registry.definitions) {
    if (definition.name !== own.name) await register(environment, definition);
  }
  await register(environment, own);
}
