import { readListing } from "../admin/listing";
import { take } from "../admin/read-result";
import { readListSchedulesQuery } from "../admin/schedule-requests";
import { looks } from "../admin/sentences";
import type { ScheduleReport } from "../admin/schedule-calls";
import { maxOption, optionalNameParameter } from "./command";
import type { Command } from "./command";
import type { Column } from "../terminal/output";
import { reportListing } from "./report-listing";

/** `taskgate schedules` */
export const schedulesCommand: Command = {
  name: "schedules",
  group: "look",
  parameters: [optionalNameParameter],
  options: { max: maxOption() },
  sentence: `${looks.schedules}.`,
  examples: [
    { line: "taskgate schedules", sentence: "All schedules." },
    { line: "taskgate schedules report", sentence: "The schedules of one definition." },
  ],
  run: async (context) => {
    const { max } = context.options;
    const query = take(readListSchedulesQuery({ definition: context.args[0], max }));
    const { schedules } = context.admin();
    reportListing(context, await readListing(query, schedules), { name: "schedules", columns });
  },
};

/** What people see of a schedule. */
export const columns: Column<ScheduleReport>[] = [
  { title: "definition", value: (row) => row.definition },
  { title: "schedule", value: (row) => row.name },
  { title: "cron", value: (row) => row.cron },
  { title: "time zone", value: (row) => row.timeZone },
  { title: "missed", value: (row) => row.missed },
  { title: "next", value: (row) => (row.paused ? "paused" : (row.runAt ?? "never")) },
  { title: "last", value: (row) => row.lastRunAt ?? "" },
];
