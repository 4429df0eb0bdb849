import { readListing } from "../admin/listing";
import { take } from "../admin/read-result";
import { looks } from "../admin/sentences";
import { readListGroupsQuery } from "../admin/task-requests";
import type { GroupStatus } from "../ports/task-store";
import { maxOption, optionalNameParameter } from "./command";
import type { Command } from "./command";
import type { Column } from "../terminal/output";
import { reportListing } from "./report-listing";

/** `taskgate groups` */
export const groupsCommand: Command = {
  name: "groups",
  group: "look",
  parameters: [optionalNameParameter],
  options: {
    key: { valueName: "KEY", sentence: "Only groups of this key." },
    max: maxOption(),
  },
  sentence: `${looks.groups}.`,
  details: "Groups with waiting tasks come first.",
  examples: [
    { line: "taskgate groups greet", sentence: "The groups of one definition." },
    { line: "taskgate groups --key customer-7", sentence: "One key over all definitions." },
  ],
  run: async (context) => {
    const { key, max } = context.options;
    const query = take(readListGroupsQuery({ definition: context.args[0], key, max }));
    const { groups } = context.admin();
    reportListing(context, await readListing(query, groups), { name: "groups", columns });
  },
};

/** What people see of a group. */
export const columns: readonly Column<GroupStatus>[] = [
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
