import { take } from "../admin/read-result";
import { readDefinitionName } from "../admin/requests";
import { readGroupRequest, readListGroupsQuery } from "../admin/task-requests";
import type { ListGroupsInput } from "../ports/task-store";
import { nameParameter, reasonOption, report } from "./command";
import type { Command, CommandContext } from "./command";
import { exitCodes } from "./exit-codes";
import type { ExitCode } from "./exit-codes";
import { columns } from "./groups";
import { renderTable, showNumber } from "../terminal/output";
import { numberOf, oneFlagOf } from "./read-values";

/** `taskgate group NAME KEY` */
export const groupCommand: Command = {
  name: "group",
  group: "change",
  parameters: [nameParameter, { name: "KEY" }],
  options: {
    slots: { valueName: "N", sentence: "How many of its tasks may run at once, 1..1000." },
    pause: { sentence: "Starts no further task; running ones finish." },
    resume: { sentence: "Starts waiting tasks again." },
    strict: { sentence: "Keeps the order over retries, too." },
    "not-strict": { sentence: "Lets other tasks overtake a retry." },
    global: { sentence: "The group of that key over all definitions." },
    reason: reasonOption,
  },
  sentence: "Shows a group, sets its slots, pauses or resumes it.",
  details:
    "A change acts at once and creates a missing group. With fewer slots running tasks finish.",
  examples: [
    { line: "taskgate group greet customer-7", sentence: "Slots, used slots, waiting tasks." },
    { line: "taskgate group greet customer-7 --slots 2", sentence: "Two of its tasks at once." },
    { line: "taskgate group greet customer-7 --pause", sentence: "No further task of this group." },
  ],
  run: async (context) => {
    const definition = take(readDefinitionName(context.args[0]));
    const { slots, reason } = context.options;
    const isGlobal = context.flags.has("global");
    const changes = {
      slots: numberOf(slots),
      paused: isOn(oneFlagOf(context.flags, "pause", "resume"), "pause"),
      strict: isOn(oneFlagOf(context.flags, "strict", "not-strict"), "strict"),
      reason,
    };
    const key = context.args[1];
    if (Object.values(changes).every((change) => change === undefined))
      return show(context, take(readListGroupsQuery({ ...(isGlobal ? {} : { definition }), key })));
    const scope = isGlobal ? "global" : "definition";
    const change = take(readGroupRequest({ ...changes, key, scope }));
    const admin = context.admin();
    const { changedBy } = context;
    const answer = await admin.setGroup({ ...change, definition, changedBy });
    report(context, answer, () => {
      const { slots: count, paused, strict } = answer.new;
      const was = answer.old === null ? "new" : `it had ${String(answer.old.slots)}`;
      const state = `${paused ? ", paused" : ""}${strict ? ", strict" : ""}`;
      const whose = isGlobal ? "of all definitions" : `of ${definition}`;
      return `Group ${answer.key} ${whose} has ${showNumber(count, "slot", "slots")} (${was})${state}: ${String(answer.used)} used, ${showNumber(answer.waiting, "task waits", "tasks wait")}.`;
    });
    return exitCodes.ok;
  },
};

async function show(context: CommandContext, query: ListGroupsInput): Promise<ExitCode> {
  const groups = await context.admin().groups(query);
  const found = groups.filter(
    ({ definition }) => (definition === null) === (query.name === undefined),
  );
  report(context, { groups: found }, () =>
    found.length === 0
      ? "There is no such group: none of its tasks has been enqueued, or none since it was removed for being idle."
      : renderTable(found, columns, context.output),
  );
  return found.length === 0 ? exitCodes.notFound : exitCodes.ok;
}

/** true, false, or nothing said. */
function isOn<Flag extends string>(given: Flag | undefined, on: Flag): boolean | undefined {
  return given === undefined ? undefined : given === on;
}
