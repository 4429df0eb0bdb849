import { take } from "../admin/read-result";
import type { Problem } from "../admin/read-result";
import { readDefinitionName } from "../admin/requests";
import { readRunScheduleRequest, readScheduleRequest } from "../admin/schedule-requests";
import { nameParameter, reasonOption, report } from "./command";
import type { Command, CommandContext, GivenWords } from "./command";
import { exitCodes } from "./exit-codes";
import type { CommandExitCode } from "./exit-codes";
import { renderTable, showDuration } from "../terminal/output";
import { oneFlagOf, refusal, refuseGiven } from "./read-values";
import { columns } from "./schedules";

/** `taskgate schedule NAME [SCHEDULE]` */
export const scheduleCommand: Command = {
  name: "schedule",
  group: "change",
  parameters: [nameParameter, { name: "SCHEDULE", isOptional: true }],
  options: {
    pause: { sentence: "Enqueues no tasks until resumed." },
    resume: { sentence: "Goes on with the next run from now." },
    run: { sentence: "Adds its task now; the next run comes as before." },
    for: {
      valueName: "INSTANT",
      sentence: "With --run: the instant in the payload's `scheduledFor`; default now.",
    },
    reason: reasonOption,
  },
  sentence: "Shows, pauses, resumes or runs a schedule.",
  details: [
    "Without SCHEDULE it is the only one of the definition. Runs that fall into a pause are skipped for good.",
    "--run adds a task as an instant would: its kind, payload and group. It works during a pause, too.",
  ].join("\n"),
  examples: [
    { line: "taskgate schedule report nightly", sentence: "The next and the last run." },
    { line: "taskgate schedule report nightly --pause", sentence: "No runs until --resume." },
    { line: "taskgate schedule report nightly --run", sentence: "One more run, now." },
  ],
  run: async (context) => {
    const definition = take(readDefinitionName(context.args[0]));
    const action = readAction(context);
    if (action === "run") return runNow(context, definition);
    const { reason } = context.options;
    const admin = context.admin();
    const named = context.args[1] ?? (await admin.schedule({ definition })).name;
    const change = take(readScheduleRequest({ schedule: named, reason }));
    const { changedBy } = context;
    if (action === undefined) {
      const found = await admin.schedule({ definition, schedule: change.schedule });
      report(context, found, () => renderTable([found], columns, context.output));
      return exitCodes.ok;
    }
    const paused = action === "pause";
    const answer = await (paused
      ? admin.pauseSchedule({ ...change, definition, changedBy })
      : admin.resumeSchedule({ ...change, definition, changedBy }));
    report(context, answer, () => {
      const again = answer.status === "exists" ? " already" : "";
      const state = paused
        ? `is paused${again}`
        : `goes on${again}: ${answer.nextDueMs === null ? "it never comes again" : `next in ${showDuration(answer.nextDueMs)}`}`;
      return `Schedule ${answer.schedule} of ${definition} ${state}.`;
    });
    return exitCodes.ok;
  },
};

function readAction(given: GivenWords): "pause" | "resume" | "run" | undefined {
  const { flags } = given;
  const action = oneFlagOf(flags, "pause", "resume");
  if (!flags.has("run")) {
    refuseGiven(given, ["for"], "it only together with --run");
    return action;
  }
  if (action !== undefined) throw refusal("--run", "true", `either --run or --${action}, not both`);
  return "run";
}

/** The instant is known as an option here. */
function asOption(problem: Problem): Problem {
  return problem.field === "scheduledFor" ? { ...problem, field: "--for" } : problem;
}

async function runNow(context: CommandContext, definition: string): Promise<CommandExitCode> {
  const { for: scheduledFor, reason } = context.options;
  const read = readRunScheduleRequest({ schedule: context.args[1], scheduledFor, reason });
  const request = take(read.ok ? read : { ...read, problems: read.problems.map(asOption) });
  const { changedBy } = context;
  const answer = await context.admin().runSchedule({ ...request, definition, changedBy });
  report(context, answer, () => {
    const { schedule, task, nextDueMs } = answer;
    const due = nextDueMs === null ? "" : ` It is due in ${showDuration(nextDueMs)}.`;
    return `Task ${task} was added to ${definition}, as schedule ${schedule} would.${due}`;
  });
  return exitCodes.ok;
}
