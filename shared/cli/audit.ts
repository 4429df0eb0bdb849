import { absentValue } from "../admin/audit-report";
import { readListAuditQuery } from "../admin/audit-requests";
import { readBatchId } from "../admin/batch-requests";
import { auditListMax, listMax, readListing } from "../admin/listing";
import { take } from "../admin/read-result";
import { looks } from "../admin/sentences";
import { auditActions } from "../core/audit-actions";
import { didYouMean } from "../core/near-name";
import type { AuditEntry } from "../ports/task-store";
import { showInstant, showNumber } from "../terminal/output";
import type { Column } from "../terminal/output";
import { maxOption } from "./command";
import type { Command, CommandContext } from "./command";
import { refusal, sinceText } from "./read-values";
import { reportListing } from "./report-listing";
import { showIds } from "./task-results";

/** `taskgate audit [OBJECT]` */
export const auditCommand: Command = {
  name: "audit",
  group: "look",
  parameters: [{ name: "OBJECT", isOptional: true, values: "definitions" }],
  options: {
    action: {
      valueName: "OPERATION",
      values: auditActions,
      sentence: "Only entries of this operation, such as set_limit or cancel_tasks.",
    },
    batch: { valueName: "ID", sentence: "Only changes of this batch, in place of OBJECT." },
    actor: { valueName: "NAME", sentence: "Only changes by this actor." },
    since: {
      valueName: "TIME",
      sentence:
        "Only changes of that time before now (2h, 7d) by the clock of this computer, or since an instant.",
    },
    before: {
      valueName: "INSTANT",
      sentence: "Only changes before an instant: 2030-01-31T08:30:00Z.",
    },
    max: maxOption(auditListMax, 20),
  },
  sentence: `${looks.audit}.`,
  details: [
    "OBJECT: a definition, group, shared limit, schedule or watermark, or the id of a task.",
    "Tasks that the app itself adds leave no entry; those added by HTTP or this program do, for 30 days.",
  ].join("\n"),
  examples: [
    { line: "taskgate audit", sentence: "The newest 20 changes." },
    { line: "taskgate audit greet --since 7d", sentence: "A definition's changes of a week." },
    { line: "taskgate audit --action cancel_tasks", sentence: "Cancelled tasks, and by whom." },
  ],
  run: async (context) => {
    const { args, options } = context;
    const { action, actor, batch, before, max } = options;
    if (batch !== undefined && args[0] !== undefined)
      throw refusal("--batch", batch, "either OBJECT or --batch, not both");
    const object = batch === undefined ? args[0] : `batch ${take(readBatchId(batch))}`;
    const asked = { object, action, actor, since: sinceText(options["since"]) };
    const query = take(readListAuditQuery({ ...asked, before, max }));
    const { audit } = context.admin();
    const listing = await readListing(query, audit, auditListMax);
    const none = listing.rows.length > 0 ? "" : await describeNone(context, args[0]);
    reportListing(context, listing, { name: "entries", columns, top: auditListMax, none });
  },
};

/** An object may be a group or a task as well, so that a name without entries is no error; a mistyped definition or shared limit is told. */
async function describeNone({ admin, isJson }: CommandContext, object = ""): Promise<string> {
  const none = "There are no such entries.";
  if (object === "" || isJson) return none;
  const [definitions, shared] = await Promise.all([
    admin().definitions(),
    admin().sharedLimits({ max: listMax }),
  ]);
  const names = [...definitions, ...shared].map(({ name }) => name);
  return names.includes(object) ? none : none + didYouMean(object, names);
}

const columns: readonly Column<AuditEntry>[] = [
  { title: "at", value: (row) => showInstant(row.at) },
  { title: "actor", value: (row) => row.actor },
  { title: "action", value: (row) => row.action },
  { title: "object", value: (row) => objectOf(row) },
  { title: "change", value: (row) => changeOf(row) },
  { title: "reason", value: (row) => row.reason ?? "", wraps: true },
];

function objectOf({ definition, object }: AuditEntry): string {
  return [definition, object].filter((name) => name !== null).join(" ");
}

/** `limit_override as in code -> 2`, or the tasks. */
function changeOf({ setting, old, new: value, tasks, taskCount }: AuditEntry): string {
  if (setting !== null) {
    const absent = absentValue(setting);
    return `${setting} ${old ?? absent} -> ${value ?? absent}`;
  }
  if (tasks === null || taskCount === null) return "";
  return `${showNumber(taskCount, "task", "tasks")} (${showIds(tasks)})`;
}
