import { isLike } from "../admin/failure-groups";
import { take } from "../admin/read-result";
import { readRedriveRequest } from "../admin/task-requests";
import { allOptions, changeAll } from "./change-all";
import type { ChangeOfAll } from "./change-all";
import { reasonOption, report, yesOption } from "./command";
import type { Command, CommandContext } from "./command";
import { exitCodes } from "./exit-codes";
import type { CommandExitCode } from "./exit-codes";
import { readWord, refusal } from "./read-values";
import { endedFilters, readIds } from "./task-filters";
import { renderOutcomes } from "./task-results";

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
      type: "string",
      valueName: "TEXT",
      sentence: "With --all: only dead tasks of this error, as `taskgate failures` shows it.",
    },
    outcome: {
      type: "string",
      valueName: "OUTCOME",
      values: outcomes,
      sentence: "With --all: dead or cancelled; default dead.",
    },
    max: {
      type: "string",
      short: "n",
      valueName: "N",
      sentence: "With --all: at most N, the oldest, 1..1000000; default all.",
    },
    reason: reasonOption,
  },
  sentence: "Retries dead or cancelled tasks; their ids stay.",
  details: [
    "Attempts are counted from 0 again; earlier attempts are kept. A task of a group joins its group again.",
    "A task stays dead while another task has its dedupe key. Exit code 1: at least one task stays.",
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
  run: async (context) => (context.flags.has("all") ? redriveAll(context) : redriveIds(context)),
};

const texts = {
  redriven: ["will run again", "will run again"],
  duplicate: ["stays: another one holds its key", "stay: others hold their keys"],
  busy: ["is locked at this moment, ask again", "are locked at this moment, ask again"],
  unfinished: ["hasn't ended", "haven't ended"],
  done: ["ended well", "ended well"],
  unknown: ["is unknown", "are unknown"],
} as const;

async function redriveIds(context: CommandContext): Promise<CommandExitCode> {
  const all = [...Object.keys({ ...allOptions, ...endedFilters }), "like", "outcome", "max"];
  const tasks = readIds(context, all);
  const request = take(readRedriveRequest({ tasks, reason: context.options["reason"] }));
  const { changedBy } = context;
  const answer = await (await context.admin()).redrive({ ...request, changedBy });
  report(context, answer, () => renderOutcomes(answer.tasks, texts));
  const isDone = answer.tasks.every((task) => task.outcome === "redriven");
  return isDone ? exitCodes.ok : exitCodes.failed;
}

async function redriveAll(context: CommandContext): Promise<CommandExitCode> {
  const { changedBy, options } = context;
  const { like, outcome = "dead", reason } = options;
  const expected = "dead or cancelled";
  const state = readWord("--outcome", outcome, { words: outcomes, expected });
  if (like !== undefined && state !== "dead")
    throw refusal("--outcome", outcome, "dead together with --like");
  const read = (tasks: readonly string[]) => take(readRedriveRequest({ tasks, reason }));
  return changeAll(context, {
    ...{ verb: "Retries", consequence: "The oldest come first.", states: [state] },
    ...{ isOldestFirst: true, texts, wanted: ["redriven"] },
    ...(like === undefined ? {} : withError(like)),
    check: () => void read(["1"]),
    change: async (tasks) => {
      const request = read(tasks);
      return (await (await context.admin()).redrive({ ...request, changedBy })).tasks;
    },
  });
}

/** Only the tasks of one error. */
function withError(like: string): Pick<ChangeOfAll, "fits" | "missing"> {
  return {
    fits: ({ error }) => isLike(error, like),
    missing:
      "No dead task has this error. --like wants a whole line of the errors of `taskgate failures`.",
  };
}
