import type { Definition } from "./define-task";
import type { WorkerEnvironment } from "./environment";

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
