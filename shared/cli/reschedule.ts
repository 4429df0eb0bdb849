import { take } from "../admin/read-result";
import { acts } from "../admin/sentences";
import { readRescheduleRequest } from "../admin/task-requests";
import { readDuration } from "../core/duration";
import { limits } from "../core/limits";
import { allOptions, changeAll, changeIds } from "./change-all";
import type { TaskChange } from "./change-all";
import { reasonOption, yesOption } from "./command";
import type { Command } from "./command";
import { refusal } from "./read-values";
import { readStates, stateOption, waitingStates } from "./task-filters";
import { unknownTasks } from "./task-results";

/** `taskgate reschedule WHEN ID..` */
export const rescheduleCommand: Command = {
  name: "reschedule",
  group: "change",
  parameters: [
    { name: "WHEN", values: ["now"] },
    { name: "ID|NAME", isList: true, values: "definitions" },
  ],
  options: {
    yes: yesOption,
    ...allOptions,
    state: stateOption(
      waitingStates,
      `With --all: one of ${waitingStates.join(", ")}; several times for several. Default scheduled.`,
    ),
    reason: reasonOption,
  },
  sentence: `${acts.reschedule}.`,
  details: [
    "WHEN: now, a time from now such as 90s, 10m or 2h, or an instant with its zone: 2030-01-31T08:30:00Z.",
    "A ready task gives its group's slot to the next one, except in a strict group. Running tasks go on.",
    "Exit code 1: at least one task wasn't rescheduled; 3: all ids are unknown.",
    "--all looks for the tasks first, and tells how many there are. Ctrl+C ends it between two calls of 1,000 tasks, with exit code 130.",
  ].join("\n"),
  examples: [
    { line: "taskgate reschedule 10m 13 14", sentence: "In 10 minutes." },
    { line: "taskgate reschedule 2030-01-31T08:30:00Z 13", sentence: "At an instant." },
    { line: "taskgate reschedule now 13", sentence: "As soon as the limit allows." },
    {
      line: "taskgate reschedule now greet --all --since 1h",
      sentence: "All delayed tasks that were added within the last hour.",
    },
  ],
  run: async (context) => {
    const { changedBy, options, flags } = context;
    const [when = "", ...args] = context.args;
    const given = { ...context, args };
    const change: TaskChange = {
      texts,
      wanted: ["rescheduled"],
      prepare: (tasks) => {
        const read = { tasks, reason: options["reason"], ...instantOf(when) };
        const request = take(readRescheduleRequest(read));
        return () => context.admin().reschedule({ ...request, changedBy });
      },
    };
    if (!flags.has("all")) return changeIds(given, change, { onlyWithAll: { state: true } });
    const to = instantOf(when);
    const start = "runAt" in to ? `at ${to.runAt}` : when === "now" ? "now" : `in ${when}`;
    return changeAll(given, {
      ...change,
      ...{ verb: "Reschedules", consequence: `They may start ${start}.` },
      states: readStates(context, waitingStates, ["scheduled"]),
    });
  },
};

const texts = {
  rescheduled: ["is rescheduled", "are rescheduled"],
  running: ["runs", "run"],
  blocked: ["waits for its wave", "wait for their waves"],
  busy: ["is on the move, ask again", "are on the move, ask again"],
  gone: ["has ended before", "have ended before"],
  unknown: unknownTasks,
} as const;

const looksLikeInstant = /^\d{4}-/;

function instantOf(when: string): { runInMs: number } | { runAt: string } {
  if (when === "now") return { runInMs: 0 };
  if (looksLikeInstant.test(when)) return { runAt: when };
  const runInMs = readDuration(when);
  if (runInMs !== null && runInMs <= limits.runInMsMax) return { runInMs };
  const expected =
    "now, a time from now such as 90s, 10m or 2h, or an instant such as 2030-01-31T08:30:00Z";
  throw refusal("WHEN", when, expected);
}
