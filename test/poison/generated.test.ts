import { afterAll, beforeAll, expect, test } from "@jest/globals";
import fc from "fast-check";
import { asTaskId } from "../../shared/core/ids";
import type { JsonValue } from "../../shared/core/json";
import { GiveUp, RetryLater } from "../../shared/core/task-failure";
import { realClock, realRandom, sleep } from "../../shared/platform/real-clock";
import type { TaskFacts, TaskStore } from "../../shared/ports/task-store";
import { MemoryTaskStore } from "../../shared/testing/memory-store/memory-task-store";
import type { TaskContext } from "../../shared/worker/define/task-context";
import { openPlainStore } from "../support/postgres-setup";
import { createTestDatabase } from "../support/test-postgres";
import { openWorkerBench, overriding } from "../unit/worker/worker-bench";
import { asResult } from "./bad-outcomes";
import { defineTask } from "../../shared/worker/define/define-task";
import { taskRef, taskRequest } from "../../shared/worker/define/task-ref";

/*
 * For any outcome of handlers, each task comes to its end within its attempts, done or dead with a reason; good ones beside them are
 * done with one start, in the execution that claimed them.
 */

type Make = () => unknown;

/** Values that no store expects; made anew for each start, so that a getter may throw there. */
const oddValues: readonly Make[] = [
  () => new Date(NaN),
  () => 12n,
  () => Symbol("odd"),
  () => () => undefined,
  () => NaN,
  () => new Map([[1, 2]]),
  () => Object.assign([], { toJSON: () => "text" }),
  () => ({ toJSON: () => Symbol("odd") }),
  () => ({
    get a() {
      throw new RangeError("a getter");
    },
  }),
  () => {
    const value: Record<string, unknown> = {};
    value["a"] = [value];
    return value;
  },
  () => {
    const { proxy, revoke } = Proxy.revocable([], {});
    revoke();
    return proxy;
  },
  () => new Proxy({}, { ownKeys: () => ["a", "a"] }),
  () => ({ text: "\ud800\u0000".repeat(9_000) }),
  () => ["x".repeat(65_536)],
  () => Object.create(null) as object,
];

const value: fc.Arbitrary<Make> = fc.oneof(
  fc.constantFrom(...oddValues),
  fc.constantFrom(...oddValues).map((make) => () => ({ within: [make()] })),
  fc
    .anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withNullPrototype: true,
      withSparseArray: true,
      withTypedArray: true,
    })
    .map((any) => () => any),
);

const pauses = fc.constantFrom<unknown>(-5, 0.5, 0, NaN, Infinity, "1", null, 3n, -Infinity);

type Leave = (ctx: TaskContext) => unknown;
const throwing = (thrown: unknown): never => {
  throw thrown;
};

const outcome: fc.Arbitrary<Leave> = fc.oneof(
  value.map((make) => () => make()),
  value.map((make) => () => throwing(make())),
  value.map((make) => () => throwing(new GiveUp("so", make()))),
  pauses.map((ms) => () => throwing(new RetryLater(ms as number, "not now"))),
  fc.tuple(value, pauses).map(
    ([make, afterMs]) =>
      (ctx: TaskContext) =>
        ctx.restored === null
          ? ctx.checkpoint(make() as JsonValue, { afterMs } as { afterMs: number })
          : {},
  ),
  value.map((make) => (ctx: TaskContext) => {
    ctx.progress({ done: make(), total: make(), text: make() } as never);
    return {};
  }),
  fc
    .tuple(
      value,
      fc.constantFrom("payload", "priority", "group", "runInMs", "runAt", "dedupeKey", "wave"),
    )
    .map(
      ([make, member]) =>
        (ctx: TaskContext) =>
          ctx.enqueue(taskRef({ name: "child" }), undefined, { [member]: make() }),
    ),
  value.map((make) => (ctx: TaskContext) => ctx.completeWith(() => make() as never)),
);

/** Executions until all is over, at most as many as the tasks may have tries and parts. */
async function play(store: TaskStore, name: string, leaves: readonly Leave[]): Promise<Played> {
  const starts = new Map<string, number>();
  const claimed = new Map<string, Set<string>>();
  const task = defineTask<{ at: number | null }>({
    name,
    limit: 16,
    retry: { attempts: 2, baseMs: 0, capMs: 0 },
    run: async ({ at }, ctx) => {
      starts.set(ctx.taskId, (starts.get(ctx.taskId) ?? 0) + 1);
      if (at !== null) return asResult(await leaves[at]?.(ctx));
      await sleep(3);
      return {};
    },
  });
  const child = defineTask({ name: "child", run: async () => undefined });
  const bench = openWorkerBench([task, child], {
    store: overriding(store, {
      work: async (input) => {
        const answer = await store.work(input);
        for (const { taskId } of answer.claimed)
          claimed.set(taskId, (claimed.get(taskId) ?? new Set()).add(input.executionId));
        return answer;
      },
    }),
  });
  const payloads = leaves.flatMap((_, at) => [{ at }, { at: null }]);
  const added = await bench.client.enqueueAll(
    payloads.map((payload) => taskRequest(task, payload)),
  );
  let facts: TaskFacts[] = [];
  for (let n = 0; n < 8; n += 1) {
    await bench.work(name, { concurrency: 16, idleReads: 0 });
    facts = await Promise.all(
      added.map(async ({ taskId }) => {
        const answer = await store.explainTask({ taskId: asTaskId(taskId) });
        if (answer.facts === null) throw new Error(`task ${taskId} is unknown`);
        return answer.facts;
      }),
    );
    if (facts.every(({ state }) => state === "done" || state === "dead")) break;
  }
  return {
    bad: facts.filter((_, at) => at % 2 === 0),
    good: facts
      .filter((_, at) => at % 2 === 1)
      .map(({ task: id, state, attempts }) => ({
        state,
        attempts: attempts.length,
        starts: starts.get(id),
        executions: claimed.get(id)?.size,
      })),
  };
}

interface Played {
  readonly bad: readonly TaskFacts[];
  readonly good: readonly object[];
}

let postgres: { store: TaskStore; drop: () => Promise<void> } | undefined;
let scenes = 0;

beforeAll(async () => {
  const { url, drop } = await createTestDatabase();
  postgres = { store: openPlainStore(url, 4), drop };
});

afterAll(async () => {
  await postgres?.store.close();
  await postgres?.drop();
});

const places: [string, number, () => TaskStore][] = [
  [
    "the store in memory",
    100,
    () => new MemoryTaskStore({ clock: { now: () => realClock.nowMs() }, random: realRandom }),
  ],
  [
    "PostgreSQL",
    25,
    () => {
      if (postgres === undefined) throw new Error("PostgreSQL isn't there");
      return postgres.store;
    },
  ],
];

test.each(places)(
  "every task on %s ends within its attempts, with any outcome, and its neighbours are done at their first start",
  async (_, numRuns, open) => {
    const seed = Number(process.env["TASKGATE_TEST_SEED"] ?? 1) || Date.now();
    const leavesOfMany = fc.array(outcome, { minLength: 1, maxLength: 8 });
    const property = fc.asyncProperty(leavesOfMany, async (leaves) => {
      const { bad, good } = await play(open(), `generated-${String((scenes += 1))}`, leaves);
      for (const each of good)
        expect(each).toEqual({ state: "done", attempts: 0, starts: 1, executions: 1 });
      for (const { state, error, failedCount, lostCount } of bad) {
        expect(["done", "dead"]).toContain(state);
        if (state === "dead") expect(error).toMatch(/\S/);
        expect(failedCount).toBeLessThanOrEqual(2);
        expect(lostCount).toBe(0);
      }
    });
    await fc.assert(property, { numRuns, seed });
  },
);
