import { moduleOf } from "./coverage";
import type { Source } from "./source";

/**
 * Statements as `module#id` that may run a function which is one query: of every module that names it, or another such function that leads
 * to it. undefined: unknown, since a view does, which statements of tests read, too.
 */
export function statementsNaming(
  source: Source,
  sources: readonly Source[],
): readonly string[] | undefined {
  const names = [moduleOf(source) ?? ""];
  const found: string[] = [];
  // Grows while it is walked.
  for (const name of names) {
    for (const other of sources) {
      const naming = other.statements.filter(({ span }) => other.textOf(span).includes(`${name}(`));
      const module = moduleOf(other);
      if (naming.length === 0) continue;
      if (module === undefined) return undefined;
      found.push(...naming.map(({ statement }) => `${module}#${statement.statementId}`));
      if (isOneQuery(other) && !names.includes(module)) names.push(module);
    }
  }
  return found;
}

/** It has no statements of its own that could be seen to run. */
function isOneQuery({ batch }: Source): boolean {
  const [created] = batch.statements;
  return created?.kind === "createFunction" && created.result.kind !== "scalar";
}
