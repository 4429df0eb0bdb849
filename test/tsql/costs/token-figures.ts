import type { TaskStore } from "../../../shared/ports/task-store";
import { define, startInput, startWorker } from "../../support/builders";
import type { World } from "../../tsql-server/engine/world";
import type { Situation } from "./situation";
import { measure } from "./measure";

/* What it costs to take and give back a few tokens, with few and with many around them. */

type TokenCall = (store: TaskStore, name: string) => Promise<() => Promise<unknown>>;

const calls: Readonly<Record<string, TokenCall>> = {
  StartExecution: async (store, name) => {
    await Promise.resolve();
    return () => store.startExecution(startInput(name));
  },
  AcquireTokens: async (store, name) => {
    const { executionId } = await startWorker(store, name);
    return () => store.acquireTokens({ executionId, want: 3 });
  },
  ReleaseTokens: async (store, name) => {
    const { executionId } = await startWorker(store, name, { want: 3 });
    return () => store.releaseTokens({ executionId, keep: 1 });
  },
  FinishExecution: async (store, name) => {
    const { executionId } = await startWorker(store, name, { want: 3 });
    return () => store.finishExecution({ executionId });
  },
};

const table = "Taskgate.TaskDefinition";

/** Four tokens are free before each call; another process holds the rest. */
export async function tokenFigures(
  template: World,
  limits: readonly number[] = [4, 100, 1_000],
): Promise<Situation[]> {
  const found: Situation[] = [];
  for (const [call, prepare] of Object.entries(calls)) {
    for (const limit of limits) {
      const { tally } = await measure(template, 1, async ({ store, name }) => {
        await define(store, { limit }, name);
        if (limit > 4) await startWorker(store, name, { want: limit - 4, worker: "another" });
        return prepare(store, name);
      });
      found.push({
        name: `${call}, ${limit.toLocaleString("en-US")} tokens`,
        figures: {
          statements: tally.statements,
          "in functions": tally.functionStatements,
          "index writes": tally.indexWrites,
          seeks: tally.seeks,
          "log bytes": tally.logBytes,
          "version bytes": tally.versionBytes,
          passes: tally.passes,
          "under the lock": tally.passesHolding.get(table) ?? 0,
          held: tally.heldMax.get(table) ?? 0,
        },
      });
    }
  }
  return found;
}
