import { take } from "../admin/read-result";
import { acts } from "../admin/sentences";
import { readCancelRequest } from "../admin/task-requests";
import { showNumber } from "../terminal/output";
import { allOptions, changeAll, changeIds } from "./change-all";
import type { TaskChange } from "./change-all";
import { yesOption } from "./command";
import type { Command } from "./command";
import { readStates, stateOption, waitingStates } from "./task-filters";
import { showIds, unknownTasks } from "./task-results";

const unfinishedStates = [...waitingStates, "claimed"] as const;

/** `taskgate cancel ID..`, `taskgate cancel NAME --all` */
export const cancelCommand: Command = {
  name: "cancel",
  group: "change",
  parameters: [{ name: "ID|NAME", isList: true, values: "definitions" }],
  options: {
    yes: yesOption,
    ...allOptions,
    state: stateOption(
      unfinishedStates,
      `With --all: one of ${unfinishedStates.join(", ")}; several times for several. Default all but claimed.`,
    ),
    reason: {
      short: "r",
      valueName: "TEXT",
      sentence: "Why; kept as the error of the cancelled tasks, at most 400 characters.",
    },
  },
  sentence: `${acts.cancel}.`,
  details: [
    "Exit code 1: a task is unknown, or locked at this moment; then repeat the command. 3: all ids are unknown.",
    "--all looks for the tasks first, a million at most, and tells how many there are. Tasks that come meanwhile stay, and so do those that wait for their wave: `taskgate batch ID --cancel` ends these. Ctrl+C ends it between two calls of 1,000 tasks, with exit code 130.",
  ].join("\n"),
  examples: [
    { line: `taskgate cancel 10 12 --reason "ordered twice"`, sentence: "Two tasks." },
    {
      line: "taskgate cancel greet --all --since 2030-01-31T08:30:00Z --dry-run",
      sentence: "How many tasks wait that were added since an instant.",
    },
    {
      line: "taskgate cancel greet --all --where name=Ada",
      sentence: "All of Ada's tasks that wait.",
    },
  ],
  run: async (context) => {
    const { changedBy, options, flags } = context;
    const change: TaskChange = {
      texts,
      wanted: ["cancelled", "requested", "gone"],
      prepare: (tasks) => {
        const request = take(readCancelRequest({ tasks, reason: options["reason"] }));
        return () => context.admin().cancel({ ...request, changedBy });
      },
    };
    if (flags.has("all")) {
      const states = readStates(context, unfinishedStates, waitingStates);
      return changeAll(context, { ...change, verb: "Cancels", consequence: end, states });
    }
    const asks = (ids: readonly string[]): string =>
      `Cancels ${showNumber(ids.length, "task", "tasks")} (${showIds(ids)}). ${end}`;
    return changeIds(context, change, { onlyWithAll: { state: true }, asks });
  },
};

const texts = {
  cancelled: ["is cancelled", "are cancelled"],
  requested: ["runs and was asked to end", "run and were asked to end"],
  busy: ["is locked at this moment, ask again", "are locked at this moment, ask again"],
  gone: ["has ended before", "have ended before"],
  unknown: unknownTasks,
} as const;

const end = "A waiting task ends for good, a running one is asked to end.";
