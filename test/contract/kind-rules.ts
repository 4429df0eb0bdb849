import type {
  EnqueueTasksInput,
  KindRules,
  NewTask,
  TaskStore,
} from "../../shared/ports/task-store";
import { registration, uniqueName } from "../support/builders";

/* What tests of kinds' rules say when they don't care. */

/** Rules of a kind: none, but those that are named. */
export function rules(changes: Partial<KindRules>): KindRules {
  return {
    kind: "a kind",
    groupBy: null,
    isGroupComputed: false,
    priority: null,
    runInMs: null,
    dedupeBy: null,
    dedupeMs: null,
    ...changes,
  };
}

/** Registers a definition whose own kind has these rules, by build 1 of the code; returns its name. */
export async function defineKind(
  store: TaskStore,
  changes: Partial<KindRules>,
  name = uniqueName(),
): Promise<string> {
  const kinds = [rules({ kind: name, ...changes })];
  const { status } = await store.registerDefinition(registration({ name, kinds }));
  if (status !== "created") throw new Error(`${name}: ${status}`);
  return name;
}

/** Tasks of a caller whose build isn't known, as plain SQL. */
export function call(
  name: string,
  tasks: readonly Partial<NewTask>[],
  changes: Partial<EnqueueTasksInput> = {},
): EnqueueTasksInput {
  const whole = tasks.map((task) => ({ payload: null, ...task }));
  return { name, build: 0, operationId: null, tasks: whole, ...changes };
}

/** The keys of a definition's groups, by key. */
export async function groupKeys(store: TaskStore, name: string): Promise<string[]> {
  const { groups } = await store.listGroups({ name, max: 100 });
  return groups.map(({ key }) => key).sort();
}
