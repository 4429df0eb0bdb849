import type { TaskStore } from "../../../shared/ports/task-store";
import { define, startInput, startWorker } from "../../support/builders";
import type { World } from "../../tsql-server/engine/world";
import type { Situation } from "./situation";
import { measure } from "./measure";

/* What it costs to take and give back a few tokens, with few and with many around them, and where that doesn't go smoothly. */

type Call = () => Promise<unknown>;
type TokenCall = (store: TaskStore, name: string, limit: number) => Promise<Call>;

/** Four tokens are free before each call; another process holds the rest. */
const smooth = {
  StartExecution: fourFree(async (store, name) => {
    await Promise.resolve();
    return () => store.startExecution(startInput(name));
  }),
  AcquireTokens: fourFree(async (store, name) => {
    const { executionId } = await startWorker(store, name);
    return () => store.acquireTokens({ executionId, want: 3 });
  }),
  ReleaseTokens: fourFree(async (store, name) => {
    const { executionId } = await startWorker(store, name, { want: 3 });
    return () => store.releaseTokens({ executionId, keep: 1 });
  }),
  FinishExecution: fourFree(async (store, name) => {
    const { executionId } = await startWorker(store, name, { want: 3 });
    return () => store.finishExecution({ executionId });
  }),
} satisfies Readonly<Record<string, TokenCall>>;

/** Where that isn't so. */
const rough: Readonly<Record<string, TokenCall>> = {
  "AcquireTokens, three free ones far apart": async (store, name, limit) => {
    const { single, others } = await apart(store, name, limit);
    for (const { executionId } of single) await store.finishExecution({ executionId });
    const { executionId, answer } = others;
    return () => store.acquireTokens({ executionId, want: answer.tokens + 3 });
  },
  "AcquireTokens, wants 8 of 4 free ones": fourFree(async (store, name) => {
    const { executionId } = await startWorker(store, name);
    return () => store.acquireTokens({ executionId, want: 9 });
  }),
  "AcquireTokens, none is free": async (store, name, limit) => {
    await hold(store, name, limit - 3);
    const { executionId } = await startWorker(store, name, { want: 3 });
    const call = (): Promise<unknown> => store.acquireTokens({ executionId, want: 8 });
    await call(); // the first denial is noted
    return call;
  },
  "StartExecution, none is free": async (store, name, limit) => {
    await hold(store, name, limit);
    const call = (): Promise<unknown> => store.startExecution(startInput(name));
    await call();
    return call;
  },
  "ReleaseSurplus, nothing is asked for": async (store, name, limit) => {
    await hold(store, name, limit - 4);
    const { executionId } = await startWorker(store, name, { want: 3 });
    return () => store.releaseSurplus({ executionId, keep: 1 });
  },
  "ReleaseSurplus, gives one to a denied process": async (store, name, limit) => {
    await hold(store, name, 3);
    const { executionId, answer } = await startWorker(store, name, { want: limit - 3 });
    await store.startExecution(startInput(name, { worker: "newcomer" }));
    return () => store.releaseSurplus({ executionId, keep: answer.tokens - 1 });
  },
  "StartExecution, takes all tokens": async (store, name, limit) => {
    await Promise.resolve();
    return () => store.startExecution(startInput(name, { want: limit }));
  },
  "FinishExecution, gives back all tokens": async (store, name, limit) => {
    const { executionId } = await startWorker(store, name, { want: limit });
    return () => store.finishExecution({ executionId });
  },
  "FinishExecution, three tokens far apart": async (store, name, limit) => {
    const { single } = await apart(store, name, limit);
    const [{ executionId }, ...others] = single;
    for (const other of others) await store.finishExecution({ executionId: other.executionId });
    await store.acquireTokens({ executionId, want: 3 });
    return () => store.finishExecution({ executionId });
  },
};

const table = "Taskgate.TaskDefinition";

export async function tokenFigures(
  template: World,
  limits: readonly number[] = [4, 100, 1_000],
): Promise<Situation[]> {
  const found: Situation[] = [];
  for (const [call, prepare] of Object.entries(smooth)) {
    for (const limit of limits) found.push(await figures(template, { call, limit, prepare }));
  }
  return found;
}

/** Calls that find no token, too few, or tokens far apart; and those that take or give back all. */
export async function roughTokenFigures(template: World): Promise<Situation[]> {
  const found: Situation[] = [];
  for (const limit of [12, 100, 1_000]) {
    for (const [call, prepare] of Object.entries(rough)) {
      found.push(await figures(template, { call, limit, prepare }));
    }
  }
  return found;
}

interface Measured {
  readonly call: string;
  readonly limit: number;
  readonly prepare: TokenCall;
}

async function figures(world: World, { call, limit, prepare }: Measured): Promise<Situation> {
  const { tally, rowsRead } = await measure(world, 1, async ({ store, name }) => {
    await define(store, { limit }, name);
    return prepare(store, name, limit);
  });
  return {
    name: `${call}, ${limit.toLocaleString("en-US")} tokens`,
    figures: {
      statements: tally.statements,
      "in functions": tally.functionStatements,
      "index writes": tally.indexWrites,
      seeks: tally.seeks,
      "rows read": rowsRead,
      "log bytes": tally.logBytes,
      "version bytes": tally.versionBytes,
      passes: tally.passes,
      "under the lock": tally.passesHolding.get(table) ?? 0,
      held: tally.heldMax.get(table) ?? 0,
      commits: tally.commitsHolding.get(table) ?? 0,
    },
  };
}

function fourFree(call: TokenCall): TokenCall {
  return async (store, name, limit) => {
    await hold(store, name, limit - 4);
    return call(store, name, limit);
  };
}

/** Another process holds so many; none: there is no such process. */
async function hold(store: TaskStore, name: string, want: number): Promise<void> {
  if (want > 0) await startWorker(store, name, { want, worker: "another" });
}

/** All tokens are held: the first, the middle and the last one by an execution each, the rest by two others. */
async function apart(store: TaskStore, name: string, limit: number) {
  const middle = Math.floor(limit / 2);
  const first = await startWorker(store, name);
  const others = await startWorker(store, name, { want: middle - 1, worker: "another" });
  const second = await startWorker(store, name);
  await startWorker(store, name, { want: limit - middle - 2, worker: "another" });
  const third = await startWorker(store, name);
  return { single: [first, second, third] as const, others };
}
