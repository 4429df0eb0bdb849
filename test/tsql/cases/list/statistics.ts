import {
  complete,
  enqueue,
  fail,
  finish,
  readStatistics,
  reclaim,
  register,
  rollUp,
  start,
  work,
} from "../calls";
import type { Call } from "../calls";
import { allOf } from "../endings";
import { later, leaseOver } from "../model-case";
import type { Ending, ModelCase, SetupStep } from "../model-case";

const first = { task: 1, fence: 1 };

/** Execution 1 has ended task 1 and runs task 2; its first counts are added up. */
const counted: readonly SetupStep[] = [
  register({ limit: 3 }),
  enqueue([{}, {}, {}, {}]),
  start(1, 1),
  work({ execution: 1, call: 1, want: 1 }),
  work({ execution: 1, call: 2, want: 1, done: [first] }),
  rollUp(10),
  later(70_000),
];

const second = { task: 2, fence: 2 };

/** What the statistics have of a column, all minutes together, and what an execution has that isn't added up yet. */
function countedOf(end: Ending, column: string): number {
  return end
    .rows("Statistic")
    .filter((row) => row["Grain"] === 1)
    .reduce((sum, row) => sum + Number(row[column]), 0);
}

/** After one more call that adds up, so many are there, whatever came first. */
function has(end: Ending, column: string, count: number): string | undefined {
  const found = countedOf(end, column);
  return found === count ? undefined : `${column}: ${String(found)}, not ${String(count)}`;
}

function beside(
  name: string,
  about: string,
  { other, setup = counted }: { readonly other: Call; readonly setup?: readonly SetupStep[] },
): ModelCase {
  return {
    name: `roll-up-x-${name}`,
    about,
    setup,
    readersWait: true,
    victims: [0],
    callers: [[rollUp(10), rollUp(10)], [other]],
  };
}

/** Counts are added up while executions count: none is lost, none is added twice, and no execution waits for it. */
export const statisticCases: readonly ModelCase[] = [
  {
    name: "roll-up-x-roll-up",
    about: "two calls add up the same counts: each is added once, and one of the two does it",
    setup: [
      ...counted.slice(0, -2),
      work({ execution: 1, call: 3, want: 1, done: [second] }),
      later(70_000),
    ],
    readersWait: true,
    callers: [[rollUp(10)], [rollUp(10)]],
    ends: (end) => allOf(has(end, "Done", 2), has(end, "Claimed", 3)),
    isLong: true,
  },
  {
    ...beside(
      "work",
      "counts are added up while a call counts: it is added by this call or the next",
      { other: work({ execution: 1, call: 3, want: 1, done: [second] }) },
    ),
    ends: (end) => {
      const done = countedOf(end, "Done");
      return done === 1 || done === 2 ? undefined : `Done: ${String(done)}`;
    },
    isLong: true,
  },
  beside("complete", "counts are added up beside a completion", { other: complete(1, second) }),
  beside("fail", "counts are added up beside a failure", {
    other: fail(1, { ...second, retryInMs: 5 }),
  }),
  beside("finish", "counts are added up while their execution ends", { other: finish(1) }),
  beside("start", "counts are added up while an execution begins", { other: start(2, 1) }),
  beside("reclaim", "counts are added up while their execution is taken back", {
    other: reclaim,
    setup: [...counted, leaseOver],
  }),
  {
    ...beside("read", "counts are added up while they are read", { other: readStatistics }),
    victims: [0, 1],
  },
  {
    name: "read-statistics-x-roll-up",
    about: "counts are added up while they are read: all that the answer calls counted is in it",
    setup: [...counted, work({ execution: 1, call: 3, done: [second] })],
    readersWait: true,
    victims: [0, 1],
    callers: [[readStatistics], [rollUp(10)]],
    ends: (end) => {
      const [row = {}] = end.answers[0]?.[0]?.rows ?? [];
      const periods = JSON.parse(String(row["Periods"] ?? "[]")) as { done: number }[];
      const done = periods.reduce((sum, period) => sum + period.done, 0);
      const isCounted = row["CountedAt"] === row["NowAt"];
      return isCounted && done < 2 ? `all is counted, but ${String(done)} of 2 ends` : undefined;
    },
  },
];
