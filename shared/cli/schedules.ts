import { readListing } from "../admin/listing";
import { take } from "../admin/object-reader";
import { readListSchedulesQuery } from "../admin/schedule-requests";
import type { ScheduleStatus } from "../ports/schedules";
import { report } from "./command";
import type { Command } from "./command";
import { exitCodes } from "./exit-codes";
import { describeCut, renderTable } from "./output";
import type { Column } from "./output";

/** `taskgate schedules` */
export const schedulesCommand: Command = {
  name: "schedules",
  parameters: [],
  options: {
    name: { type: "string", valueName: "NAME", sentence: "Only those of this definition." },
    most: { type: "string", valueName: "N", sentence: "At most so many, 1..1000; default 100." },
  },
  sentence: "Schedules with their next and last instants, in UTC.",
  run: async (context) => {
    const { name, most } = context.options;
    const query = take(readListSchedulesQuery({ definition: name, most }));
    const admin = await context.admin();
    const { rows: schedules, more } = await readListing(query, admin.schedules);
    report(context, { schedules, more }, () =>
      schedules.length === 0
        ? "There are no such schedules."
        : renderTable(schedules, columns, context.output.columns) +
          describeCut({ rows: schedules, more }),
    );
    return exitCodes.ok;
  },
};

/** What people see of a schedule. */
export const columns: Column<ScheduleStatus>[] = [
  { title: "definition", value: (row) => row.definition },
  { title: "schedule", value: (row) => row.name },
  { title: "cron", value: (row) => row.cron },
  { title: "time zone", value: (row) => row.timeZone },
  { title: "missed", value: (row) => row.missed },
  { title: "next", value: (row) => (row.paused ? "paused" : (row.runAt ?? "never")) },
  { title: "last", value: (row) => row.lastRunAt ?? "" },
];
