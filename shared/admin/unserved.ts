import { isCallsDefinition } from "../core/calls-definition";
import { showCount } from "../core/counted";
import { formatDuration } from "../core/duration";
import { oldestAgeMs } from "../core/oldest-age";
import type { DefinitionStatus, TaskStore } from "../ports/task-store";

/** The sweep looks every 30 s by default: a task that could run, and waits for longer than this, has no worker. */
export const waitMsMax = 5 * 60_000;
/** So many definitions are asked for at most: each costs a read. */
export const askedMax = 20;

/** A definition whose ready tasks no worker takes. */
export interface Unserved {
  readonly name: string;
  /** The state, and a way out. */
  readonly text: string;
}

/**
 * Definitions that no worker serves, although their tasks could run: no app that runs has them, or no app runs at all. Renamed tasks
 * and apps leave such definitions behind.
 */
export async function findUnserved(
  store: TaskStore,
  definitions: readonly DefinitionStatus[],
): Promise<{ unserved: Unserved[]; notAsked: number }> {
  const unserved: Unserved[] = [];
  const asked = definitions.filter(couldRun);
  for (const definition of asked.slice(0, askedMax)) {
    const ageMs = oldestAgeMs(await store.readPace({ name: definition.name, max: 1 }));
    if (ageMs > waitMsMax)
      unserved.push({ name: definition.name, text: describe(definition, ageMs) });
  }
  return { unserved, notAsked: Math.max(asked.length - askedMax, 0) };
}

/** Are tasks ready, is nothing in their way, and does no worker stay with them? */
function couldRun(definition: DefinitionStatus): boolean {
  const { name, ready, executions, paused, limit, rateInMs, sharedLimits } = definition;
  if (isCallsDefinition(name) || ready === 0 || executions > 0) return false;
  if (paused || limit === 0 || (rateInMs ?? 0) > 0) return false;
  return sharedLimits.every((shared) => shared.limit === null || shared.held < shared.limit);
}

function describe({ name, ready }: DefinitionStatus, ageMs: number): string {
  const tasks = ready === 1 ? "1 task is" : `${showCount(ready)} tasks are`;
  return `${tasks} ready, for ${formatDuration(ageMs)} by now, and no worker takes them. ${askForApp(name)}`;
}

/** What an operator looks for where no worker takes a definition's tasks. */
export function askForApp(name: string): string {
  return `Does an app run that has \`${name}\`? Where the task, its function or the app was renamed, give it the old name back until its tasks are done.`;
}
