import { expect } from "@jest/globals";
import type { TaskId } from "../../../shared/core/ids";
import type { ClaimedTask } from "../../../shared/ports/task-store";
import { seededRandom } from "../../../shared/testing/seeded-random";
import {
  at,
  define,
  enqueue,
  idsOf,
  startWorker,
  statusOf,
  testSeed,
} from "../../support/builders";
import type { Worker } from "../../support/builders";
import { atOnce, runCycles } from "../../support/mixed-load";
import type { Mix } from "../../support/mixed-load";
import { changedStore } from "../../support/planted-setup";
import type { Scene } from "../scene";
import type { Stage, StoreChange } from "../stage";

const agents = 8;

/** The simulated server is one thread: there the same happens with fewer. */
const taskCount = ({ dialect }: Stage): number => (dialect === "mssql" ? 60 : 400);

/** As many connections as agents, each with a worker that is live before the work begins. */
async function startAgents(stage: Stage, name: string, want: number): Promise<Worker[]> {
  const workers: Worker[] = [];
  for (let index = 0; index < agents; index += 1)
    workers.push(await startWorker(stage.openStore(1), name, { want }));
  return workers;
}

/** Claims different numbers and completes them until nothing comes any more; all that it was given. */
async function drain(worker: Worker, random: () => number): Promise<TaskId[]> {
  const mine: TaskId[] = [];
  for (let held = await worker.claim(10); held.length > 0;) {
    mine.push(...idsOf(held));
    held = (await worker.complete(held, 1 + Math.floor(random() * 20))).claimed;
  }
  return mine;
}

async function showDrain(stage: Stage): Promise<void> {
  const seed = testSeed();
  const count = taskCount(stage);
  const name = await define(stage.plain, { limit: 1_000 });
  const ids = await enqueue(stage.plain, name, count);
  const workers = await startAgents(stage, name, 20);
  const claims = await atOnce(agents, (index) =>
    drain(at(workers, index), seededRandom(seed + index)),
  );
  const all = claims.flat();
  expect({ seed, twice: all.filter((id, place) => all.indexOf(id) < place) }).toEqual({
    seed,
    twice: [],
  });
  expect(all.toSorted(byNumber)).toEqual(ids.toSorted(byNumber));
  expect(claims.filter((mine) => mine.length > 0).length).toBeGreaterThan(1);
  expect(await statusOf(stage.plain, name)).toMatchObject({ done: count, ready: 0, claimed: 0 });
}

const byNumber = (a: string, b: string): number => Number(a) - Number(b);

/** What one agent was given comes to another one, too. */
const handingOutTwice = (): StoreChange => {
  let earlier: ClaimedTask | undefined;
  let count = 0;
  return (store) =>
    changedStore(store, {
      work: async (input) => {
        const answer = await store.work(input);
        count += 1;
        const again = earlier !== undefined && count % 3 === 0 && answer.claimed.length > 0;
        earlier ??= answer.claimed[0];
        return again && earlier !== undefined
          ? { ...answer, claimed: [...answer.claimed, earlier] }
          : answer;
      },
    });
};

/** Of what a claim takes, the first is told only. */
const tellingOne = (): StoreChange => (store) =>
  changedStore(store, {
    work: async (input) => {
      const answer = await store.work(input);
      return { ...answer, claimed: answer.claimed.slice(0, 1) };
    },
  });

// ---- groups

const groupCount = 6;
const perGroup = 8;
const slots = 2;

/** Ends what it holds, now and then badly, and notes which groups are in use meanwhile. */
async function runGroupAgent(
  worker: Worker,
  groupOf: ReadonlyMap<TaskId, string>,
  inUse: Map<string, number>,
): Promise<void> {
  let held: ClaimedTask[] = [];
  const note = (tasks: readonly ClaimedTask[], delta: number): void => {
    for (const { taskId } of tasks) {
      const key = groupOf.get(taskId) ?? "";
      const now = (inUse.get(key) ?? 0) + delta;
      expect({ key, now, isWithin: now <= slots }).toEqual({ key, now, isWithin: true });
      inUse.set(key, now);
    }
  };
  for (let idle = 0; idle < 3;) {
    const answer = await worker.complete(held, 4);
    expect(answer.refused).toEqual([]);
    held = answer.claimed;
    idle = held.length === 0 ? idle + 1 : 0;
    note(held, 1);
    await worker.beat();
    note(held, -1);
  }
}

async function showGroups(stage: Stage): Promise<void> {
  const name = await define(stage.plain, { limit: 200, groupSlots: slots });
  const groups = Array.from(
    { length: groupCount * perGroup },
    (_, index) => `g${String(index % groupCount)}`,
  );
  const ids = await enqueue(
    stage.plain,
    name,
    groups.map((group) => ({ group })),
  );
  const groupOf = new Map(ids.map((id, index) => [id, at(groups, index)]));
  const inUse = new Map<string, number>();
  const workers = await startAgents(stage, name, 8);
  await atOnce(agents, (index) => runGroupAgent(at(workers, index), groupOf, inUse));
  // Agents that look while all groups are held may leave early: the last one has no rival.
  await drain(at(workers, 0), () => 0.5);
  expect((await statusOf(stage.plain, name)).done).toBe(ids.length);
}

// ---- everything at once

async function showMixedLoad(stage: Stage): Promise<void> {
  const seed = testSeed();
  const name = await define(stage.plain, {
    limit: 6,
    leaseMs: 10_000,
    retryAttempts: 4,
    lostMax: 2,
  });
  const stores = Array.from({ length: 3 }, () => stage.openStore(5));
  const mix: Mix = {
    stores,
    name,
    seed,
    open: new Set(),
    cycles: stage.dialect === "mssql" ? 1 : 10,
    advance: (ms) => stage.advance(ms),
  };
  const failures: unknown[] = [];
  await showClash(stage).catch((error: unknown) => void failures.push(error));
  await atOnce(15, (index) =>
    runCycles(mix, index).catch((error: unknown) => void failures.push(error)),
  );
  expect({ deadlocks: await stage.countDeadlocks(), failures: failures.map(String) }).toEqual({
    deadlocks: 0,
    failures: [],
  });
  const { done, dead } = await statusOf(stage.plain, name);
  expect(done + dead).toBeGreaterThan(5);
}

/** Ends of tasks of all groups at the same time as new tasks for all of them: both lock one group after the other. */
async function showClash(stage: Stage): Promise<void> {
  const keys = ["a", "b", "c", "d"];
  const name = await define(stage.plain, { limit: 100, groupSlots: 4 });
  const tasks = keys.map((group) => ({ group }));
  for (let agent = 0; agent < 4; agent += 1) await enqueue(stage.plain, name, tasks);
  const workers = await atOnce(4, () => startWorker(stage.openStore(1), name, { want: 4 }));
  const others = Array.from({ length: 4 }, () => stage.openStore(1));
  for (let round = 0; round < 4; round += 1) {
    const held: ClaimedTask[][] = [];
    for (const worker of workers) held.push(await worker.claim(4));
    await Promise.all([
      ...workers.map((worker, index) => worker.complete(at(held, index))),
      ...others.map((store) => enqueue(store, name, tasks)),
    ]);
  }
}

/** Many agents at once. */
export const drainScenes: readonly Scene[] = [
  {
    numbers: "S2.1, S2.12, S3.2",
    title: `${String(agents)} connections drain a queue in batches of different sizes, each once`,
    play: showDrain,
    faults: [
      {
        numbers: "S2.1, S3.2",
        what: "what one agent was given comes to another one, too",
        change: handingOutTwice,
        found: /"twice"|twice/,
      },
      {
        numbers: "S2.12",
        what: "a batch is taken, and its first task told only",
        change: tellingOne,
        found: /toEqual/,
      },
    ],
  },
  {
    numbers: "S1.7",
    title: `${String(agents)} agents on ${String(groupCount)} groups of ${String(slots)} slots never exceed a group's slots, and meet no error of a key`,
    play: showGroups,
    faults: [
      {
        numbers: "S1.7",
        what: "what one agent was given comes to another one, too",
        change: handingOutTwice,
        found: /isWithin|refused|toEqual/,
      },
      {
        numbers: "S1.7",
        what: "a hand-over takes a slot that is another task's: the index stops it",
        planted: {
          mssql: {
            file: "mssql/sql/procedures/_HandOver.sql",
            edits: [
              {
                from: "WHERE NOT EXISTS (SELECT 1 FROM Taskgate.GroupSlot AS s WHERE s.GroupId = a.GroupId AND s.Slot = n.N)",
                to: "",
              },
            ],
          },
          postgres: {
            file: "postgres/sql/functions/_hand_over.sql",
            edits: [
              {
                from: "where not exists (select 1 from group_slot s where s.group_id = g.group_id and s.slot = f.slot)",
                to: "",
              },
            ],
          },
        },
        found: /2627|2601|duplicate|PK_/i,
      },
    ],
  },
  {
    numbers: "S0.12",
    title:
      "15 connections start, claim, end and die amid heartbeats, limit changes, reclaims and enqueues without deadlock or error",
    on: ["postgres", "mssql"],
    play: showMixedLoad,
    faults: [
      {
        numbers: "S0.12",
        what: "groups are handed over from the highest on",
        planted: {
          mssql: {
            file: "mssql/sql/procedures/_HandOver.sql",
            edits: [
              {
                from: "ROW_NUMBER() OVER (ORDER BY x.GroupId)",
                to: "ROW_NUMBER() OVER (ORDER BY x.GroupId DESC)",
              },
            ],
          },
        },
        found: /deadlock/,
        tries: 4,
      },
    ],
  },
];
