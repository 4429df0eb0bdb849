import { invalidInput, take } from "../admin/object-reader";
import { readDefinitionName } from "../admin/requests";
import { readScheduleRequest } from "../admin/schedule-requests";
import { reasonOption, report } from "./command";
import type { Command } from "./command";
import { exitCodes } from "./exit-codes";
import { renderTable, showDuration } from "./output";
import { columns } from "./schedules";

/** `taskgate schedule NAME SCHEDULE` */
export const scheduleCommand: Command = {
  name: "schedule",
  parameters: ["NAME", "SCHEDULE"],
  options: {
    pause: { type: "boolean", sentence: "Enqueues nothing until resumed." },
    resume: { type: "boolean", sentence: "Goes on with the next instant from now." },
    reason: reasonOption,
  },
  sentence: "Shows a definition's schedule, pauses or resumes it.",
  details: "What comes while it is paused isn't made up for.",
  run: async (context) => {
    const definition = take(readDefinitionName(context.args[0]));
    const { reason } = context.options;
    const change = take(readScheduleRequest({ schedule: context.args[1], reason }));
    const [isPause, isResume] = [context.flags.has("pause"), context.flags.has("resume")];
    if (isPause && isResume) {
      const expected = "either --pause or --resume, not both";
      throw invalidInput([{ field: "--pause", value: "both", expected }]);
    }
    const admin = await context.admin();
    const { changedBy } = context;
    if (!isPause && !isResume) {
      const found = await admin.schedule({ definition, schedule: change.schedule });
      report(context, found, () => renderTable([found], columns, context.output.columns));
      return exitCodes.ok;
    }
    const paused = isPause;
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
