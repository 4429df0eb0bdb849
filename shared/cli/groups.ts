import { readListing } from "../admin/listing";
import { take } from "../admin/object-reader";
import { readListGroupsQuery } from "../admin/task-requests";
import type { GroupStatus } from "../ports/task-store";
import { report } from "./command";
import type { Command } from "./command";
import { exitCodes } from "./exit-codes";
import { describeCut, renderTable } from "./output";
import type { Column } from "./output";

/** `taskgate groups` */
export const groupsCommand: Command = {
  name: "groups",
  parameters: [],
  options: {
    name: { type: "string", valueName: "NAME", sentence: "Only those of this definition." },
    key: { type: "string", valueName: "KEY", sentence: "Only those of this key." },
    most: { type: "string", valueName: "N", sentence: "At most so many, 1..1000; default 100." },
  },
  sentence: "Groups with their slots, who uses them and who waits.",
  run: async (context) => {
    const { name, key, most } = context.options;
    const query = take(readListGroupsQuery({ definition: name, key, most }));
    const admin = await context.admin();
    const { rows: groups, more } = await readListing(query, admin.groups);
    report(context, { groups, more }, () =>
      groups.length === 0
        ? "There are no such groups."
        : renderTable(groups, columns, context.output.columns) +
          describeCut({ rows: groups, more }),
    );
    return exitCodes.ok;
  },
};

const columns: Column<GroupStatus>[] = [
  { title: "definition", value: (row) => row.definition ?? "(all)" },
  { title: "group", value: (row) => row.key },
  { title: "slots", value: (row) => String(row.slots), isNumber: true },
  { title: "used", value: (row) => String(row.used), isNumber: true },
  { title: "waiting", value: (row) => String(row.waiting), isNumber: true },
  {
    title: "state",
    value: (row) => [row.paused ? "paused" : "", row.strict ? "strict" : ""].join(" ").trim(),
  },
];
