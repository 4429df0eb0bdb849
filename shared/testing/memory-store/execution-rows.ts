import { compareNumbers } from "./rows";
import type { DefinitionRow, ExecutionRow, MemoryState } from "./state";

/** Live, or dead and not yet reclaimed. */
export function isOpen({ state }: ExecutionRow): boolean {
  return state === "live" || state === "dead";
}

/** Executions in the order of their numbers. */
export function executionsOf(
  { executions }: MemoryState,
  definition?: DefinitionRow,
): ExecutionRow[] {
  return [...executions.values()]
    .filter((row) => definition === undefined || row.definitionId === definition.definitionId)
    .sort((a, b) => compareNumbers(a.executionId, b.executionId));
}

/** Tokens of executions. */
export function countTokens(executions: readonly ExecutionRow[]): number {
  return executions.reduce((sum, row) => sum + row.tokenCount, 0);
}
