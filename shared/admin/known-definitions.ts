import { TaskgateError } from "../core/errors";
import { describeKnown } from "../core/near-name";
import type { DefinitionStatus, TaskStore } from "../ports/task-store";
import { invalidInput, showValue } from "./read-result";

/**
 * Definitions that calls name. One that the database doesn't know yet, but the app does, is registered when it is first named:
 * no call waits for the first sweep. One that neither knows is an error that names near ones.
 */

/** Where names are looked up. */
export interface Known {
  readonly store: TaskStore;
  /** Registers what the app has where the name is among it, and answers whether it is. Default: there is no app. */
  readonly makeKnown?: (definition: string) => Promise<boolean>;
}

/** Runs a call about a definition or its parts; once more where it names what the app has just made known. */
export async function withOwnNames<Result>(
  { makeKnown }: Known,
  name: string | undefined,
  body: () => Promise<Result>,
): Promise<Result> {
  try {
    return await body();
  } catch (error) {
    if (name === undefined || !isUnknown(error)) throw error;
    if ((await makeKnown?.(name)) !== true) throw error;
    return body();
  }
}

/** The same; an error that says that the definition is unknown is thrown anew, with near names. */
export async function withKnownNames<Result>(
  known: Known,
  name: string | undefined,
  body: () => Promise<Result>,
): Promise<Result> {
  try {
    return await withOwnNames(known, name, body);
  } catch (error) {
    if (isUnknown(error)) throw await unknownDefinition(known.store, name ?? "");
    throw error;
  }
}

function isUnknown(error: unknown): boolean {
  return error instanceof TaskgateError && error.code === "TASKGATE_ARG_UNKNOWN";
}

/** The definition of that name. Throws InvalidArgumentError (unknown). */
export async function requireDefinition(store: TaskStore, name: string): Promise<DefinitionStatus> {
  const [definition] = (await store.listDefinitions({ name })).definitions;
  if (definition === undefined) throw await unknownDefinition(store, name);
  return definition;
}

/** The error about a definition that isn't registered. One read. */
export async function unknownDefinition(store: TaskStore, name: string): Promise<TaskgateError> {
  const { definitions } = await store.listDefinitions({});
  const names = definitions.map((definition) => definition.name);
  const hint =
    names.length === 0
      ? "none is registered yet: a worker registers its definitions at its first run"
      : describeKnown(name, names);
  const expected = `the name of a registered definition; ${hint}`;
  return invalidInput(
    [{ field: "definition", value: showValue(name), expected }],
    "TASKGATE_ARG_UNKNOWN",
  );
}
