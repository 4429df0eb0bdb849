import { isLike } from "../admin/failure-groups";
import { take } from "../admin/read-result";
import { acts } from "../admin/sentences";
import { readRedriveRequest } from "../admin/task-requests";
import { allOptions, changeAll, changeIds } from "./change-all";
import type { ChangeOfAll, TaskChange } from "./change-all";
import { reasonOption, yesOption } from "./command";
import type { Command } from "./command";
import { readWord, refusal } from "./read-values";
import { endedFilters } from "./task-filters";
import { unknownTasks } from "./task-results";

const outcomes = ["dead", "cancelled"] as const;

/** `taskgate redrive ID..`, `taskgate redrive NAME --all` */
export const redriveCommand: Command = {
  name: "redrive",
  group: "change",
  parameters: [{ name: "ID|NAME", isList: true, values: "definitions" }],
  options: {
    yes: yesOption,
    ...allOptions,
    ...endedFilters,
    like: {
      valueName: "TEXT",
      sentence: "With --all: only dead tasks of this error, as `taskgate failures` shows it.",
    },
    outcome: {
      valueName: "OUTCOME",
      values: outcomes,
      sentence: "With --all: dead or cancelled; default dead.",
    },
    max: {
      short: "n",
      valueName: "N",
      sentence: "With --all: at most N, the oldest, 1..1000000; default all.",
    },
    reason: reasonOption,
  },
  sentence: `${acts.redrive}.`,
  details: [
    "Attempts are counted from 0 again; earlier attempts are kept. A task of a group joins its group again.",
    "A task stays dead while another task has its dedupe key. Exit code 1: at least one task stays; 3: all ids are unknown.",
    "--all looks for the tasks first, and tells how many there are; the oldest run again first, as the limit allows. Ctrl+C ends it between two calls of 1,000 tasks, with exit code 130.",
  ].join("\n"),
  examples: [
    { line: "taskgate redrive 17", sentence: "One task." },
    {
      line: `taskgate redrive greet --all --like "Error: it broke"`,
      sentence: "The dead tasks of one error.",
    },
    { line: "taskgate redrive greet --all", sentence: "All dead tasks of a definition." },
    {
      line: "taskgate redrive greet --all --outcome cancelled -n 50",
      sentence: "The 50 oldest cancelled ones.",
    },
  ],
  run: async (context) => {
    const { changedBy, options, flags } = context;
    const { like, outcome = "dead", reason } = options;
    const change: TaskChange = {
      texts,
      wanted: ["redriven"],
      prepare: (tasks) => {
        const request = take(readRedriveRequest({ tasks, reason }));
        return () => context.admin().redrive({ ...request, changedBy });
      },
    };
    if (!flags.has("all"))
      return changeIds(context, change, {
        onlyWithAll: { ...endedFilters, like: true, outcome: true, max: true },
      });
    const expected = "dead or cancelled";
    const state = readWord("--outcome", outcome, { words: outcomes, expected });
    if (like !== undefined && state !== "dead")
      throw refusal("--outcome", outcome, "dead together with --like");
    return changeAll(context, {
      ...change,
      ...{ verb: "Retries", consequence: "The oldest come first.", isOldestFirst: true },
      states: [state],
      ...(like === undefined ? {} : withError(like)),
    });
  },
};

const texts = {
  redriven: ["will run again", "will run again"],
  duplicate: ["stays: another one holds its key", "stay: others hold their keys"],
  busy: ["is locked at this moment, ask again", "are locked at this moment, ask again"],
  unfinished: ["hasn't ended", "haven't ended"],
  done: ["ended well", "ended well"],
  unknown: unknownTasks,
} as const;

/** Only the tasks of one error. */
function withError(like: string): Pick<ChangeOfAll, "fits" | "missing"> {
  return {
    fits: ({ error }) => isLike(error, like),
    missing:
      "No dead task has this error. --like wants a whole line of the errors of `taskgate failures`.",
  };
}
