import { asTaskId } from "../../shared/core/ids";
import { realClock, sleep } from "../../shared/platform/real-clock";
import type { TaskFacts, TaskStore } from "../../shared/ports/task-store";
import { openWorkerBench, overriding } from "../unit/worker/worker-bench";
import type { WorkerBench } from "../unit/worker/worker-bench";
import { asResult } from "./bad-outcomes";
import type { BadOutcome } from "./bad-outcomes";
import { defineTask } from "../../shared/worker/define/define-task";
import { taskRequest } from "../../shared/worker/define/task-ref";

/** How a scene went. */
export interface SceneEnd {
  readonly culprit: TaskFacts;
  readonly neighbours: readonly Neighbour[];
  readonly slowestMs: number;
}

/** A good task beside the bad one. */
export interface Neighbour {
  readonly state: string;
  /** Failed, lost and continued ones; one that simply runs and ends has none. */
  readonly attempts: number;
  /** Starts of its handler. */
  readonly runs: number;
  /** Executions that ever claimed it. */
  readonly executions: number;
}

/** How long a good task takes. */
export const neighbourMs = 300;
const neighbourCount = 5;

/** Five good tasks and a bad one, claimed together by one worker of a definition of their own. */
export async function playScene(
  store: TaskStore,
  name: string,
  bad: Pick<BadOutcome, "run">,
): Promise<SceneEnd> {
  const runs = new Map<string, number>();
  const endedMs: number[] = [];
  const claims = new Map<string, Set<string>>();
  const task = defineTask<{ isBad: boolean }>({
    name,
    limit: 8,
    leaseMs: 10_000,
    retry: { attempts: 2, baseMs: 1, capMs: 1 },
    run: async ({ isBad }, ctx) => {
      runs.set(ctx.taskId, (runs.get(ctx.taskId) ?? 0) + 1);
      if (isBad) return asResult(await bad.run(ctx));
      await sleep(neighbourMs);
      endedMs.push(realClock.monotonicMs());
      return { ok: true };
    },
  });
  const bench = openWorkerBench([task], { store: watched(store, claims) });
  const payloads = [...Array<boolean>(neighbourCount).fill(false), true];
  const added = await bench.client.enqueueAll(
    payloads.map((isBad) => taskRequest(task, { isBad })),
  );
  const ids = added.map(({ taskId }) => taskId);
  const startedMs = realClock.monotonicMs();
  const facts = await workUntilEnded(bench, name, ids);
  const culprit = facts.at(-1);
  if (culprit === undefined) throw new Error("the bad task is unknown");
  return {
    culprit,
    slowestMs: Math.round(Math.max(...endedMs) - startedMs),
    neighbours: facts.slice(0, neighbourCount).map((fact) => ({
      state: fact.state,
      attempts: fact.attempts.length,
      runs: runs.get(fact.task) ?? 0,
      executions: claims.get(fact.task)?.size ?? 0,
    })),
  };
}

/** Notes which executions claimed each task. */
function watched(store: TaskStore, claims: Map<string, Set<string>>): TaskStore {
  return overriding(store, {
    work: async (input) => {
      const answer = await store.work(input);
      for (const { taskId } of answer.claimed)
        claims.set(taskId, (claims.get(taskId) ?? new Set()).add(input.executionId));
      return answer;
    },
  });
}

/** Executions one after the other, at most as many as the bad task may have tries and parts. */
async function workUntilEnded(
  bench: WorkerBench,
  name: string,
  ids: readonly string[],
): Promise<TaskFacts[]> {
  for (let n = 0; ; n += 1) {
    await bench.work(name);
    const facts = await Promise.all(ids.map((id) => factsOf(bench.store, id)));
    const areOver = facts.every(({ state }) => ["done", "dead", "cancelled"].includes(state));
    if (areOver || n === 12) return facts;
    await sleep(5);
  }
}

async function factsOf(store: TaskStore, id: string): Promise<TaskFacts> {
  const { facts } = await store.explainTask({ taskId: asTaskId(id) });
  if (facts === null) throw new Error(`task ${id} is unknown`);
  return facts;
}
