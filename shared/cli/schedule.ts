import { take } from "../admin/read-result";
import { readDefinitionName } from "../admin/requests";
import { readScheduleRequest } from "../admin/schedule-requests";
import { nameParameter, reasonOption, report } from "./command";
import type { Command } from "./command";
import { exitCodes } from "./exit-codes";
import { renderTable, showDuration } from "../terminal/output";
import { oneFlagOf } from "./read-values";
import { columns } from "./schedules";

/** `taskgate schedule NAME SCHEDULE` */
export const scheduleCommand: Command = {
  name: "schedule",
  group: "change",
  parameters: [nameParameter, { name: "SCHEDULE" }],
  options: {
    pause: { type: "boolean", sentence: "Enqueues no tasks until resumed." },
    resume: { type: "boolean", sentence: "Goes on with the next run from now." },
    reason: reasonOption,
  },
  sentence: "Shows, pauses or resumes a schedule.",
  details: "Runs that fall into a pause are skipped for good.",
  examples: [
    { line: "taskgate schedule report nightly", sentence: "The next and the last run." },
    { line: "taskgate schedule report nightly --pause", sentence: "No runs until --resume." },
  ],
  run: async (context) => {
    const definition = take(readDefinitionName(context.args[0]));
    const { reason } = context.options;
    const change = take(readScheduleRequest({ schedule: context.args[1], reason }));
    const action = oneFlagOf(context.flags, "pause", "resume");
    const admin = await context.admin();
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
