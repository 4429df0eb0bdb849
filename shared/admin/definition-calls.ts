import type { DefinitionStatus, ResumeInput, SetDefinitionOwnerInput } from "../ports/task-store";
import type { AdminOptions } from "./admin-options";
import type { OfDefinition } from "./admin-tools";
import { listDefinitions } from "./app-actions";
import {
  requireDefinition,
  unknownDefinition,
  withKnownNames,
  withOwnNames,
} from "./known-definitions";
import { readPace } from "./pace-report";
import type { ListExecutionsRequest } from "./requests";
import { withoutConflict } from "./settings-conflict";
import { readStatus } from "./status-report";

/**
 * Calls about definitions, their executions and owners. Changes whose caller expects other settings than those that are there throw
 * SettingsConflict; their status is `exists` where it was so already.
 */
export function definitionCalls(options: AdminOptions) {
  const { store, wakeUp } = options;
  return {
    /** All definitions with their sums. Three reads. */
    status: () => readStatus(options),
    /** All definitions by name, or the one, with their apps. Two reads. */
    definitions: (name?: string) =>
      withOwnNames(options, name, async () => {
        const definitions = await listDefinitions(store, name);
        if (name !== undefined && definitions.length === 0)
          throw await unknownDefinition(store, name);
        return definitions;
      }),
    /** Executions with their tokens, newest first. */
    executions: ({ definition, isOpen, max }: ListExecutionsRequest) =>
      withOwnNames(options, definition, async () => {
        const name = definition === undefined ? {} : { name: definition };
        const { executions } = await store.listExecutions({ ...name, isOpen, max });
        // An empty answer doesn't tell an idle definition from a misspelt one.
        if (executions.length === 0 && definition !== undefined)
          await requireDefinition(store, definition);
        return executions;
      }),
    /** How a definition gets on: age of its oldest ready task, pace, time left, running tasks. `read`: the definition, where the caller has just read it. */
    pace: (name: string, read?: DefinitionStatus) =>
      withOwnNames(options, name, async () =>
        readPace(options, read ?? (await requireDefinition(store, name))),
      ),
    /** Nothing new starts until resumed; running tasks go on. */
    pause: async ({ definition, ...change }: OfDefinition<ResumeInput>) => {
      const { status } = await withKnownNames(options, definition, () =>
        store.pauseDefinition({ ...change, name: definition }),
      );
      return { definition, status: withoutConflict(status) };
    },
    /** Takes a pause away; leaves a hint when tasks wait. */
    resume: async ({ definition, ...change }: OfDefinition<ResumeInput>) => {
      const { status, ready } = await withKnownNames(options, definition, () =>
        store.resumeDefinition({ ...change, name: definition }),
      );
      if (ready) await wakeUp.hint(definition);
      return { definition, status: withoutConflict(status) };
    },
    /** Hands a definition over to another app, or releases it; the hint tells the new one of tasks that wait. `expectedApp` as in the store. */
    setOwner: async ({ definition, ...change }: OfDefinition<SetDefinitionOwnerInput>) => {
      const { oldApp, newApp, ...answer } = await withKnownNames(options, definition, () =>
        store.setDefinitionOwner({ ...change, name: definition }),
      );
      const status = withoutConflict(answer.status);
      if (status === "set" && newApp !== null) await wakeUp.hint(definition);
      return { definition, status, oldApp, newApp };
    },
  };
}
