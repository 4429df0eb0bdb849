import { take } from "../admin/read-result";
import { readRescheduleRequest } from "../admin/task-requests";
import { readDuration } from "../core/duration";
import { limits } from "../core/limits";
import { allOptions, changeAll } from "./change-all";
import { reasonOption, report, yesOption } from "./command";
import type { Command, CommandContext } from "./command";
import { exitCodes } from "./exit-codes";
import type { CommandExitCode } from "./exit-codes";
import { refusal } from "./read-values";
import { readIds, readStates, stateOption, waitingStates } from "./task-filters";
import { renderOutcomes } from "./task-results";

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
  sentence: "Changes when waiting tasks run.",
  details: [
    "WHEN: now, a time from now such as 90s, 10m or 2h, or an instant with its zone: 2030-01-31T08:30:00Z.",
    "A ready task gives its group's slot to the next one, except in a strict group. Running tasks go on.",
    "Exit code 1: at least one task wasn't rescheduled.",
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
  run: async (context) =>
    context.flags.has("all") ? rescheduleAll(context) : rescheduleIds(context),
};

const texts = {
  rescheduled: ["is rescheduled", "are rescheduled"],
  running: ["runs", "run"],
  blocked: ["waits for its wave", "wait for their waves"],
  busy: ["is on the move, ask again", "are on the move, ask again"],
  gone: ["has ended or never was", "have ended or never were"],
} as const;

async function rescheduleIds(context: CommandContext): Promise<CommandExitCode> {
  const [when = "", ...args] = context.args;
  const tasks = readIds({ ...context, args }, [...Object.keys(allOptions), "state"]);
  const { tasks: told } = await reschedule(context, { when, tasks });
  report(context, { tasks: told }, () => renderOutcomes(told, texts));
  const isDone = told.every((task) => task.outcome === "rescheduled");
  return isDone ? exitCodes.ok : exitCodes.failed;
}

async function rescheduleAll(context: CommandContext): Promise<CommandExitCode> {
  const [when = "", ...args] = context.args;
  const to = instantOf(when);
  return changeAll(
    { ...context, args },
    {
      verb: "Reschedules",
      consequence: `They may start ${"runAt" in to ? `at ${to.runAt}` : when === "now" ? "now" : `in ${when}`}.`,
      states: readStates(context, waitingStates, ["scheduled"]),
      ...{ texts, wanted: ["rescheduled"] },
      check: () => void readChange(context, { when, tasks: ["1"] }),
      change: async (tasks) => (await reschedule(context, { when, tasks })).tasks,
    },
  );
}

interface Wanted {
  readonly when: string;
  readonly tasks: readonly string[];
}

function readChange({ options }: CommandContext, { when, tasks }: Wanted) {
  return take(readRescheduleRequest({ tasks, reason: options["reason"], ...instantOf(when) }));
}

async function reschedule(context: CommandContext, wanted: Wanted) {
  const request = readChange(context, wanted);
  return (await context.admin()).reschedule({ ...request, changedBy: context.changedBy });
}

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
