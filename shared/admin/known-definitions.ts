import { describeKnownOf, isCallsDefinition } from "../core/calls-definition";
import { commandWord } from "../core/command-word";
import { TaskgateError } from "../core/errors";
import { nearName } from "../core/near-name";
import type { DefinitionStatus, TaskStore } from "../ports/task-store";
import { listMax } from "./listing";
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
  /** The same for a limit that definitions of the app share. */
  readonly makeSharedKnown?: (sharedLimit: string) => Promise<boolean>;
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

/** The error about a definition that isn't registered. Two reads. */
export async function unknownDefinition(store: TaskStore, name: string): Promise<TaskgateError> {
  const [{ definitions }, { sharedLimits }] = await Promise.all([
    store.listDefinitions({}),
    store.listSharedLimits({ max: listMax }),
  ]);
  const shared = sharedLimits.map((limit) => limit.name);
  const known = definitions.map((definition) => definition.name);
  // A name without the prefix of functions means their limit, or a definition that has tasks.
  const isMeant = isCallsDefinition(name);
  const names = known.filter((each) => isMeant || !isCallsDefinition(each));
  const hint = hintOfShared(name, { shared, names }) ?? describeKnownOf(name, known) ?? noneYet;
  const expected = `the name of a registered definition; ${hint}`;
  return invalidInput(
    [{ field: "definition", value: showValue(name), expected }],
    "TASKGATE_ARG_UNKNOWN",
  );
}

const noneYet = "none is registered yet: a worker registers its definitions at its first run";

/** Null: no shared limit is meant, as none has this name or one that is nearer than those of definitions. */
function hintOfShared(
  name: string,
  { shared, names }: { shared: readonly string[]; names: readonly string[] },
): string | null {
  const near = nearName(name, [...names, ...shared]);
  if (near === null || !shared.includes(near) || names.includes(near)) return null;
  const ways = `\`taskgate limit ${commandWord(near)} --shared\`, over HTTP \`shared-limits/${encodeURIComponent(near)}\``;
  return near === name
    ? `\`${near}\` is a limit that definitions share: ${ways}`
    : `did you mean the shared limit \`${near}\` (${ways})?`;
}
