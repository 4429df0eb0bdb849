import { expect } from "@jest/globals";
import type { ExecutionId } from "../../../shared/core/ids";
import type { TaskStore, WorkAnswer } from "../../../shared/ports/task-store";
import { at, define, enqueue, idsOf, startWorker } from "../../support/builders";
import { within } from "../../support/gate";
import { changedStore } from "../../support/planted-setup";
import type { Scene } from "../scene";
import type { StoreChange } from "../stage";

/** Much shorter than the two seconds after which a call that waits gives up. */
const promptMs = 1_000;

/** Each call of `work` may be answered otherwise. */
function changedWork(
  answer: (store: TaskStore, input: Parameters<TaskStore["work"]>[0]) => Promise<WorkAnswer>,
): StoreChange {
  return (store) => changedStore(store, { work: (input) => answer(store, input) });
}

/** A claim of several takes one more than it tells of. */
const reserving = (): StoreChange =>
  changedWork(async (store, input) => {
    const answer = await store.work(input);
    return { ...answer, claimed: answer.claimed.slice(0, Math.max(1, input.want - 1)) };
  });

/** One claim after the other, and none while another is open. */
const claimHints =
  "WITH (ROWLOCK, UPDLOCK, READPAST, FORCESEEK, INDEX (PK_Ready)) -- keep them, skip others', in key order";
const work = {
  mssql: "mssql/sql/procedures/Work.sql",
  postgres: "postgres/sql/functions/work.sql",
};

const waitingForRows = {
  mssql: {
    file: work.mssql,
    edits: [{ from: claimHints, to: "WITH (ROWLOCK, UPDLOCK, FORCESEEK)" }],
  },
  postgres: {
    file: work.postgres,
    edits: [{ from: "limit v_want for update skip locked", to: "limit v_want for update" }],
  },
} as const;

/** A queue of one: a call that comes while a claim isn't settled waits for it. */
const oneAtATime = (): StoreChange => {
  const settled = new Set<unknown>();
  let last: object | undefined;
  return changedWork(async (store, input) => {
    const who = input.executionId;
    if (last !== undefined && !settled.has(last) && input.done.length === 0)
      await new Promise((resolve) => setTimeout(resolve, 2 * promptMs));
    last = { who };
    return store.work(input);
  });
};

/** The jobs of source text 001: 1, 5, 9 are of group 1, and 3, 7, 11 of group 3. */
const textGroups = ["1", null, "3", null, "1", null, "3", null, "1", null, "3", null].map((group) =>
  group === null ? {} : { group },
);

async function showOpenClaim(
  stage: Parameters<Scene["play"]>[0],
  tasks: readonly { group?: string }[],
  parts: readonly [readonly number[], readonly number[]],
): Promise<void> {
  const store = stage.openStore(2);
  const name = await define(store, { limit: 12, prefetchMax: 0 });
  const ids = await enqueue(store, name, tasks);
  const first = await startWorker(stage.openStore(1), name, { want: 6 });
  const second = await startWorker(store, name, { want: 6 });
  const open = await stage.openClaim(first, 6);
  expect(idsOf(await within(promptMs, second.claim(6)))).toEqual(
    parts[1].map((index) => at(ids, index)),
  );
  await open.commit();
  expect(await open.taskIds).toEqual(parts[0].map((index) => at(ids, index)));
}

/** How claims meet. */
export const claimScenes: readonly Scene[] = [
  {
    numbers: "S1.6",
    title:
      "a claim returns at once with the rest while another one is open, with groups and without",
    play: async (stage) => {
      const halves = [
        [0, 1, 2, 3, 4, 5],
        [6, 7, 8, 9, 10, 11],
      ] as const;
      await showOpenClaim(
        stage,
        textGroups.map(() => ({})),
        halves,
      );
      const grouped = [
        [0, 1, 2, 3, 5, 7],
        [9, 11],
      ] as const;
      await showOpenClaim(stage, textGroups, grouped);
    },
    faults: [
      {
        numbers: "S1.6",
        what: "a claim waits for the one before it",
        change: oneAtATime,
        found: /No answer within/,
      },
      {
        numbers: "S1.6",
        what: "a claim waits for locked rows instead of stepping over them",
        planted: waitingForRows,
        found: /No answer within/,
      },
    ],
  },
  {
    numbers: "S1.11",
    title: "a claim leaves the tasks that it stepped over or gave up for the next one, in order",
    play: async (stage) => {
      const store = stage.openStore(2);
      const name = await define(store, { limit: 12, prefetchMax: 0 });
      const ids = await enqueue(store, name, 8);
      const first = await startWorker(stage.openStore(1), name, { want: 2 });
      const second = await startWorker(store, name, { want: 2 });
      const third = await startWorker(store, name, { want: 8 });
      const open = await stage.openClaim(first, 2);
      expect(idsOf(await within(promptMs, second.claim(2)))).toEqual(ids.slice(2, 4));
      await open.rollBack();
      expect(idsOf(await within(promptMs, third.claim(8)))).toEqual([
        ...ids.slice(0, 2),
        ...ids.slice(4),
      ]);
    },
    faults: [
      {
        numbers: "S1.11",
        what: "a claim keeps one more than it tells of",
        change: reserving,
        found: /toEqual/,
      },
    ],
  },
  {
    numbers: "S2.4, S2.5",
    title:
      "a claim gets the next rows at once behind n taken ones; an empty answer says that all are taken, not that work has ended",
    play: async (stage) => {
      const store = stage.openStore(2);
      const name = await define(store, { limit: 12, prefetchMax: 0 });
      const worker = await startWorker(store, name, { want: 6 });
      expect(await within(promptMs, worker.claim(2))).toEqual([]);
      const ids = await enqueue(store, name, 5);
      const one = await startWorker(stage.openStore(1), name, { want: 3 });
      const two = await startWorker(stage.openStore(1), name, { want: 1 });
      const three = await stage.openClaim(one, 3);
      expect(idsOf(await within(promptMs, worker.claim(1)))).toEqual(ids.slice(3, 4));
      const last = await stage.openClaim(two, 1);
      expect(await within(promptMs, worker.claim(4))).toEqual([]);
      await three.rollBack();
      await last.rollBack();
      expect(idsOf(await within(promptMs, worker.claim(4)))).toEqual([
        ...ids.slice(0, 3),
        ...ids.slice(4),
      ]);
    },
    faults: [
      {
        numbers: "S2.4",
        what: "a claim waits for locked rows instead of stepping over them",
        planted: waitingForRows,
        found: /No answer within/,
      },
      {
        numbers: "S2.4",
        what: "a claim that meets others takes nothing",
        change: () => {
          const first: { executionId?: ExecutionId } = {};
          return changedWork((store, input) => {
            first.executionId ??= input.executionId;
            const isMeeting = first.executionId === input.executionId && input.callNumber === 2;
            return store.work(isMeeting ? { ...input, want: 0 } : input);
          });
        },
        found: /toEqual/,
      },
      {
        numbers: "S2.5",
        what: "an empty claim is an error",
        change: () =>
          changedWork(async (store, input) => {
            const answer = await store.work(input);
            if (answer.status === "none") throw new Error("there is nothing");
            return answer;
          }),
        found: /there is nothing/,
      },
    ],
  },
];
