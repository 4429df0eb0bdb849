import { expect, test } from "@jest/globals";
import {
  at,
  define,
  enqueue,
  operationId,
  registration,
  startInput,
  startWorker,
  testSeed,
  Worker,
} from "../support/builders";
import { sleep } from "../../shared/platform/real-clock";
import { seededRandom } from "../../shared/testing/seeded-random";
import { useContention } from "../support/use-contention";

/** Shared limits and rates under real concurrency on PostgreSQL. Each test has a database of its own. */
const scene = useContention();

test("three definitions over two shared limits, changed and registered anew under load, never run too many", async () => {
  const stores = Array.from({ length: 3 }, () => scene.openStore(4));
  const store = at(stores, 0);
  const [one, two] = [
    { name: "one", limit: 3 },
    { name: "two", limit: 4 },
  ];
  const inputs = [[one], [two, one], [two]].map((sharedLimits, index) =>
    registration({ name: `d${String(index)}`, settings: { limit: 6, sharedLimits } }),
  );
  for (const input of inputs) await store.registerDefinition(input);
  const seed = testSeed();
  // Tokens held by those who have been answered and haven't asked to end: no more than are held in the database.
  const held = new Map<string, number>();
  let max = 0;
  let granted = 0;
  const execution = async (index: number): Promise<void> => {
    const random = seededRandom(seed + index);
    const own = at(stores, index % 3);
    for (let turn = 0; turn < 30; turn += 1) {
      const name = `d${String(Math.floor(random() * 3))}`;
      const answer = await own.startExecution(
        startInput(name, { want: 1 + Math.floor(random() * 3) }),
      );
      if (answer.executionId === null) continue;
      const worker = new Worker(own, answer.executionId, answer);
      granted += 1;
      held.set(answer.executionId, answer.tokens);
      max = Math.max(
        max,
        [...held.values()].reduce((sum, tokens) => sum + tokens, 0),
      );
      if (random() < 0.3)
        await own.releaseTokens({ executionId: worker.executionId, keep: answer.tokens });
      held.delete(worker.executionId);
      await worker.finish();
    }
  };
  const load = Promise.all(Array.from({ length: 12 }, (_, index) => execution(index)));
  for (let change = 0; change < 12; change += 1) {
    const limit = at([3, 1, 2], change % 3);
    const changedBy = "an operator";
    await store.setSharedLimit({ name: "one", limit, operationId: operationId(), changedBy });
    const input = at(inputs, change % 3);
    await store.registerDefinition({ ...input, build: change + 2 });
  }
  await load;
  expect(granted).toBeGreaterThan(12);
  // Each grant has a token of one of them: 3 and 4.
  expect(max).toBeLessThanOrEqual(7);
  // One lock order: no call died of a circle and was repeated by the store. The server counts them within a second.
  await sleep(1_200);
  const { rows } = await scene.client.query<{ deadlocks: string }>(
    "select deadlocks from pg_stat_database where datname = current_database()",
  );
  expect(rows).toEqual([{ deadlocks: "0" }]);
});

test("tokens of two shared limits wander between three definitions under load: never too many, and no circle", async () => {
  const stores = Array.from({ length: 3 }, () => scene.openStore(4));
  const [one, two] = [
    { name: "one", limit: 3 },
    { name: "two", limit: 4 },
  ];
  const inputs = [[one], [two, one], [two]].map((sharedLimits, index) =>
    registration({ name: `d${String(index)}`, settings: { limit: 6, sharedLimits } }),
  );
  for (const input of inputs) await at(stores, 0).registerDefinition(input);
  const seed = testSeed();
  // As above, by definition.
  const held = new Map<string, { definition: number; tokens: number }>();
  const max = { one: 0, two: 0 };
  const note = (executionId: string, definition: number, tokens: number): void => {
    held.set(executionId, { definition, tokens });
    const of = (...definitions: number[]): number =>
      [...held.values()]
        .filter((holder) => definitions.includes(holder.definition))
        .reduce((sum, holder) => sum + holder.tokens, 0);
    max.one = Math.max(max.one, of(0, 1));
    max.two = Math.max(max.two, of(1, 2));
  };
  const execution = async (index: number): Promise<void> => {
    const random = seededRandom(seed + index);
    const own = at(stores, index % 3);
    for (let turn = 0; turn < 15; turn += 1) {
      const definition = Math.floor(random() * 3);
      const input = startInput(`d${String(definition)}`, { worker: `w${String(index)}`, want: 3 });
      const answer = await own.startExecution(input);
      if (answer.executionId === null) continue;
      const { executionId } = answer;
      note(executionId, definition, answer.tokens);
      for (let call = 0; call < 4; call += 1) {
        const keep = Math.floor(random() * 2);
        note(executionId, definition, keep);
        const gave = await own.releaseSurplus({ executionId, keep });
        note(executionId, definition, gave.tokens);
        const more = await own.acquireTokens({ executionId, want: 3 });
        note(executionId, definition, more.tokens);
      }
      held.delete(executionId);
      await own.finishExecution({ executionId });
    }
  };
  await Promise.all(Array.from({ length: 12 }, (_, index) => execution(index)));
  expect(max.one).toBeLessThanOrEqual(3);
  expect(max.two).toBeLessThanOrEqual(4);
  await sleep(1_200);
  const { rows } = await scene.client.query<{ deadlocks: string }>(
    "select deadlocks from pg_stat_database where datname = current_database()",
  );
  expect(rows).toEqual([{ deadlocks: "0" }]);
});

test("twelve workers on one rate start exactly what it lets start, however they race", async () => {
  const stores = Array.from({ length: 3 }, () => scene.openStore(4));
  const store = at(stores, 0);
  const rate = { count: 20, periodMs: 86_400_000, burst: 20 };
  const name = await define(store, { limit: 100, rate });
  await enqueue(store, name, 200);
  const claimed = await Promise.all(
    Array.from({ length: 12 }, async (_, index) => {
      const worker = await startWorker(at(stores, index % 3), name, { want: 5, needsReady: true });
      let count = 0;
      for (let turn = 0; turn < 40; turn += 1) {
        const answer = await worker.work({ want: 3 });
        count += answer.claimed.length;
        // 5 ms: another call held the row.
        if (answer.retryInMs !== null && answer.retryInMs > 1_000) break;
        await worker.complete(answer.claimed);
      }
      return count;
    }),
  );
  expect(claimed.reduce((sum, count) => sum + count, 0)).toBe(20);
});
