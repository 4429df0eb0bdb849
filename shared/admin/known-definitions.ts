import { TaskgateError } from "../core/errors";
import { describeKnown } from "../core/near-name";
import type { DefinitionStatus, TaskStore } from "../ports/task-store";
import { invalidInput, showValue } from "./read-result";

/** Definitions that calls name: one that isn't registered is an error that names near ones. */

/** Runs a call about a definition. An error that says that it is unknown is thrown anew, with near names. */
export async function withKnownNames<Result>(
  store: TaskStore,
  name: string,
  body: () => Promise<Result>,
): Promise<Result> {
  try {
    return await body();
  } catch (error) {
    if (error instanceof TaskgateError && error.code === "TASKGATE_ARG_UNKNOWN") {
      throw await unknownDefinition(store, name);
    }
    throw error;
  }
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
