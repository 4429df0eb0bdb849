import type {
  DefinitionStatus,
  ExecutionStatus,
  ResumeInput,
  SetDefinitionOwnerInput,
} from "../../ports/task-store";
import type { Actor, AdminOptions, OfDefinition } from "../admin-options";
import { listDefinitions, setOwner } from "../app-actions";
import type { DefinitionReport, OwnerReport } from "../app-actions";
import type { OwnerRequest } from "../app-requests";
import { requireDefinition, unknownDefinition, withKnownNames } from "../known-definitions";
import { readPace } from "../pace-report";
import type { PaceReport } from "../pace-report";
import { pauseDefinition, resumeDefinition } from "../pause-actions";
import type { PauseReport } from "../pause-actions";
import type { ListExecutionsRequest, OperatorRequest } from "../requests";
import { readStatus } from "../status-report";
import type { StatusReport } from "../status-report";

/** Whether the caller has seen it paused: if it isn't so, the call throws SettingsConflict. */
type SeenPause = Pick<ResumeInput, "expectedPaused">;

/** Calls about definitions, their executions and owners. */
export interface DefinitionCalls {
  /** All definitions with their sums. Three reads. */
  status(): Promise<StatusReport>;
  /** All definitions by name, or the one. */
  definitions(name?: string): Promise<DefinitionReport[]>;
  /** Executions with their tokens, newest first. */
  executions(request: ListExecutionsRequest): Promise<ExecutionStatus[]>;
  /** How a definition gets on: age of its oldest ready task, pace, time left, running tasks. `read`: the definition, where the caller has just read it. */
  pace(definition: string, read?: DefinitionStatus): Promise<PaceReport>;
  /** Nothing new starts until resumed; running tasks go on. */
  pause(request: OperatorRequest & Actor & OfDefinition & SeenPause): Promise<PauseReport>;
  /** Takes a pause away; leaves a hint when tasks wait. */
  resume(request: OperatorRequest & Actor & OfDefinition & SeenPause): Promise<PauseReport>;
  /** Hands a definition over to another app, or releases it; leaves a hint. `expectedApp` as in the store. */
  setOwner(
    request: OwnerRequest & Actor & OfDefinition & Pick<SetDefinitionOwnerInput, "expectedApp">,
  ): Promise<OwnerReport>;
}

/** The calls about definitions. */
export function definitionCalls(options: AdminOptions): DefinitionCalls {
  const { store } = options;
  const known = <Result>(name: string, body: () => Promise<Result>): Promise<Result> =>
    withKnownNames(store, name, body);
  return {
    status: () => readStatus(options),
    definitions: async (name) => {
      const definitions = await listDefinitions(store, name);
      if (name !== undefined && definitions.length === 0)
        throw await unknownDefinition(store, name);
      return definitions;
    },
    executions: async ({ definition, isOpen, max }) => {
      const name = definition === undefined ? {} : { name: definition };
      const { executions } = await store.listExecutions({ ...name, isOpen, max });
      // An empty answer doesn't tell an idle definition from a misspelt one.
      if (executions.length === 0 && definition !== undefined)
        await requireDefinition(store, definition);
      return executions;
    },
    pace: async (name, read) => readPace(options, read ?? (await requireDefinition(store, name))),
    pause: ({ definition, ...change }) =>
      known(definition, () => pauseDefinition(options, { ...change, name: definition })),
    resume: ({ definition, ...change }) =>
      known(definition, () => resumeDefinition(options, { ...change, name: definition })),
    setOwner: ({ definition, ...change }) =>
      known(definition, () => setOwner(options, { ...change, name: definition })),
  };
}
