import {
  cancel,
  cancelBatch,
  createBatch,
  enqueue,
  listBatches,
  plainTasks,
  purge,
  redrive,
  register,
  startBatch,
  sweep,
} from "../calls";
import type { Call } from "../calls";
import { allOf, expectTasks, numberOf, statusOf, taskIds } from "../endings";
import type { CaseAnswer, Ending, ModelCase, SetupStep } from "../model-case";
import { batchRow, latch, only } from "../permitted-waits";
import { inAMonth } from "./purges";

/** Two batches that have ended long ago: the first, of two waves, is done, the other was cancelled. */
const ended = inAMonth(createBatch(1, 2), startBatch(1), createBatch(2, 1), cancelBatch(2));

/** Task 1 was cancelled in a wave whose batch is as old, and is kept for longer. */
const outlived: readonly SetupStep[] = [
  register({ retainDoneMs: 60 * 86_400_000 }),
  ...inAMonth(createBatch(1, 1), enqueue(plainTasks(1), { wave: 1 }), startBatch(1), cancel(1)),
  register({ build: 2 }),
];

/** The waves that an answer of CreateBatch names. */
function wavesIn(answer: CaseAnswer | undefined): string {
  return String(answer?.rows[0]?.["Waves"]);
}

/** There are these batches with these waves, each with its counters, and nothing else. */
function standing(end: Ending, batches: readonly number[], waves: readonly number[]) {
  const ids = (table: string, column: string): number[] => [
    ...new Set(end.rows(table).map((row) => Number(row[column]))),
  ];
  const found = [ids("Batch", "BatchId"), ids("Wave", "WaveId"), ids("WaveShard", "WaveId")];
  const text = found.map((list) => list.sort((a, b) => a - b).join("+")).join(" / ");
  const expected = [batches, waves, waves].map((list) => list.join("+")).join(" / ");
  return text === expected ? undefined : `batches, waves and counters are ${text}`;
}

/** Batches that purges say to have deleted. */
function counted(end: Ending, batches: number): string | undefined {
  const purges = end.answers.flat().filter((answer) => statusOf(answer) === "purged");
  const sum = purges.reduce((all, answer) => all + numberOf(answer, "Batches"), 0);
  return sum === batches ? undefined : `${String(sum)} batches were counted`;
}

/** A call that has nothing to say to batches that are gone. */
function beside(
  { name, about, other }: { name: string; about: string; other: Call },
  more: Partial<ModelCase> = {},
) {
  return {
    name: `purge-of-batches-x-${name}`,
    about,
    setup: ended,
    readersWait: true,
    callers: [[purge(10)], [other]],
    ends: (end: Ending) => {
      // What a reader has at this moment stays for the next call, and its batch with it.
      const waves = end.rows("Wave");
      const left = new Set(waves.map((row) => Number(row["BatchId"])));
      const all = waves.map((row) => Number(row["WaveId"]));
      return allOf(standing(end, [...left], all), counted(end, 2 - left.size));
    },
    ...more,
  } satisfies ModelCase;
}

/** Finished batches are deleted: no call waits for that, and none sees half of one where it counts. */
export const purgedBatchCases: readonly ModelCase[] = [
  {
    name: "purge-of-batches-x-purge",
    about: "two purges of the same batches: each goes once, with its waves, and nobody waits",
    setup: ended,
    readersWait: true,
    callers: [[purge(10)], [purge(10)]],
    comesAgain: [0],
    ends: (end) => allOf(standing(end, [], []), counted(end, 2)),
  },
  {
    name: "purge-of-batches-x-purge-in-slices",
    about: "two purges that may each take one wave: no wave goes by halves",
    setup: inAMonth(createBatch(1, 2), startBatch(1)),
    readersWait: true,
    callers: [[purge(1)], [purge(1)]],
    ends: (end) => {
      const left = end.rows("Wave").length;
      return left === 0
        ? allOf(standing(end, [], []), counted(end, 1))
        : allOf(standing(end, [1], [2]), counted(end, 0));
    },
  },
  ...[10, 1].map((max): ModelCase => ({
    name: `purge-of-batches-x-repeat-of-a-creation-${max === 1 ? "in-slices" : "whole"}`,
    about:
      "a creation is repeated after its batch has ended long ago: the old one with all of its waves, or a new one",
    setup: inAMonth(createBatch(1, 2), startBatch(1)),
    readersWait: true,
    waits: [only(1, { ...batchRow, why: "a repeat waits for the end of the purge" })],
    callers: [[purge(max)], [createBatch(1, 2)]],
    ends: (end) => {
      const waves = wavesIn(end.answers[1]?.[0]);
      // It was told of the old one, which goes behind it or stays for now.
      if (waves === '["1","2"]') {
        if (end.rows("Wave").length === 2) return standing(end, [1], [1, 2]);
        return max === 1 ? standing(end, [1], [2]) : standing(end, [], []);
      }
      if (waves !== '["3","4"]') return `the repeat was told of ${waves}`;
      return max === 1 ? standing(end, [1, 2], [2, 3, 4]) : standing(end, [2], [3, 4]);
    },
  })),
  {
    name: "purge-of-batches-x-redrive",
    about: "a dead letter comes back while its wave is deleted: on its own",
    setup: outlived,
    readersWait: true,
    waits: [latch],
    callers: [[purge(10)], [redrive(1)]],
    ends: (end) =>
      allOf(
        standing(end, [], []),
        expectTasks(taskIds(end, "Ready"), 1),
        end.rows("Task").every((row) => row["WaveId"] === null)
          ? undefined
          : "the task is in a wave that is gone",
      ),
  },
  beside(
    { name: "cancel-batch", about: "a batch is cancelled once more", other: cancelBatch(2) },
    {
      errors: [50404],
      waits: [only(1, batchRow)],
    },
  ),
  beside(
    { name: "start-batch", about: "a batch is started once more", other: startBatch(1) },
    {
      errors: [50404],
      waits: [only(1, batchRow)],
    },
  ),
  beside(
    { name: "create-batch", about: "another batch is made", other: createBatch(3, 1) },
    {
      comesAgain: [0],
      ends: (end) => allOf(standing(end, [3], [4]), counted(end, 2)),
    },
  ),
  beside({ name: "list-batches", about: "somebody looks at batches", other: listBatches }),
  beside({
    name: "sweep",
    about: "somebody looks whether there is anything to purge",
    other: sweep,
  }),
];
