import { InvalidArgumentError } from "../../core/errors";
import type { Definition } from "../define/task-kind";
import { nameOf } from "../environment";
import type { WorkerEnvironment } from "../environment";
import type { Registry } from "../define/registry";

/** Writes the code's settings of a definition; an older build than the database's changes nothing. Idempotent. */
export async function register(
  environment: WorkerEnvironment,
  definition: Definition,
): Promise<void> {
  const answer = await environment.store.registerDefinition({
    name: definition.name,
    build: environment.build,
    settingsHash: definition.settingsHash,
    registeredBy: nameOf(environment),
    settings: definition.settings,
    ...(definition.kinds === undefined ? {} : { kinds: definition.kinds }),
  });
  const { name } = definition;
  if (answer.status === "outdated") {
    const { build } = environment;
    const text = "the database keeps the settings of a newer build; those of this one don't count";
    environment.logger.warn(text, { definition: name, build });
  } else if (answer.status !== "exists")
    environment.logger.info("definition registered", { definition: name, status: answer.status });
}

/**
 * Registers all definitions of this build, `own` last: where one of a build is known, all are, so a handler's children
 * never meet an unregistered definition.
 */
export async function registerAll(
  environment: WorkerEnvironment,
  registry: Registry,
  own: Definition,
): Promise<void> {
  await environment.app?.require(own.name);
  for (const definition of await ownDefinitions(environment, registry)) {
    if (definition.name !== own.name) await register(environment, definition);
  }
  await register(environment, own);
}

/** The definitions of this build, less those that belong to other apps. */
export async function ownDefinitions(
  environment: WorkerEnvironment,
  registry: Registry,
): Promise<readonly Definition[]> {
  const refused = await environment.app?.refused();
  if (refused === undefined || refused.size === 0) return registry.definitions;
  return registry.definitions.filter(({ name }) => !refused.has(name));
}

/** By environment: definitions that this process has registered for enqueues within transactions. */
const registeredFor = new WeakMap<WorkerEnvironment, Set<string>>();

/** The database's own words, and what makes the definition known. */
function adviseOnUnknown(error: unknown): never {
  const isUnknown =
    error instanceof InvalidArgumentError && error.message.startsWith("name: unknown definition (");
  if (!isUnknown) throw error;
  throw new InvalidArgumentError(
    `${error.message}: expected one that is registered; the app that runs it does so when it starts, and so does a client that has its kinds in \`tasks\``,
    { code: error.code, details: error.details, cause: error },
  );
}

/**
 * Asks something of a definition; when the database doesn't know it yet, or has other rules of its kinds, this build's
 * definitions are registered and it asks again. Inside a user's transaction an error would doom it: there they are registered
 * beforehand, once per process, on a connection of its own; a refusal makes the next transaction register them again.
 * Without a registry, or for a definition of other code, the error is the caller's. A definition that belongs to another app is refused.
 */
export async function ensureRegistered<Answer>(
  environment: WorkerEnvironment,
  about: { registry: Registry | null; definition: string; isWithin: boolean },
  ask: () => Promise<Answer>,
): Promise<Answer> {
  const { registry, isWithin } = about;
  const known = registry?.definition(about.definition) ?? null;
  if (registry === null || known === null) return ask().catch(adviseOnUnknown);
  if (!isWithin) await environment.app?.require(known.name);
  const registered = registeredFor.get(environment) ?? new Set<string>();
  registeredFor.set(environment, registered);
  if (isWithin && !registered.has(known.name)) {
    await registerAll(environment, registry, known);
    registered.add(known.name);
  }
  try {
    return await ask();
  } catch (error) {
    const isOutdated =
      error instanceof InvalidArgumentError &&
      (error.code === "TASKGATE_ARG_UNKNOWN" || error.code === "TASKGATE_ARG_RULE");
    if (isOutdated) registered.delete(known.name);
    if (!isOutdated || isWithin) throw error;
    await registerAll(environment, registry, known);
    return ask();
  }
}
