import { describeKnown } from "../core/near-name";
import type { SharedLimitReading, TaskStore } from "../ports/task-store";
import type { Known } from "./known-definitions";
import { listMax } from "./listing";
import { invalidInput, showValue } from "./read-result";

/**
 * Shared limits that calls name. A limit that the database doesn't have throttles nothing, so a mistyped name is an error. The app's
 * own limits are registered when one is first named, as its definitions are.
 */

/** The limit of that name, or null. One read where it is there. */
export async function findSharedLimit(
  { store, makeSharedKnown }: Known,
  name: string,
): Promise<SharedLimitReading | null> {
  const read = async () => (await store.listSharedLimits({ name, max: 1 })).sharedLimits[0] ?? null;
  const found = await read();
  if (found !== null || (await makeSharedKnown?.(name)) !== true) return found;
  return read();
}

/** The error about a limit that isn't there. One read. */
export async function unknownSharedLimit(store: TaskStore, name: string): Promise<Error> {
  const { sharedLimits } = await store.listSharedLimits({ max: listMax });
  const names = sharedLimits.map((limit) => limit.name);
  const hint = names.length === 0 ? "there is none" : describeKnown(name, names);
  const expected = `the name of a shared limit (a new one needs \`--create\`, over HTTP \`create: true\`); ${hint}`;
  return invalidInput(
    [{ field: "name", value: showValue(name), expected }],
    "TASKGATE_ARG_UNKNOWN",
  );
}
