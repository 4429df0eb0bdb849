import { invalidInput, take } from "../admin/object-reader";
import { readDefinitionName } from "../admin/requests";
import { readGroupRequest } from "../admin/task-requests";
import { reasonOption, report } from "./command";
import type { Command, CommandContext } from "./command";
import { exitCodes } from "./exit-codes";
import { showNumber } from "./output";

/** `taskgate group NAME KEY` */
export const groupCommand: Command = {
  name: "group",
  parameters: ["NAME", "KEY"],
  options: {
    slots: { type: "string", valueName: "N", sentence: "So many of its tasks at once, 1..1000." },
    pause: { type: "boolean", sentence: "Lets nobody in; what is in goes on." },
    resume: { type: "boolean", sentence: "Lets in who waits." },
    strict: { type: "boolean", sentence: "Keeps the order over retries, too." },
    "not-strict": { type: "boolean", sentence: "Lets others overtake a retry." },
    global: { type: "boolean", sentence: "The group of that key over all definitions." },
    reason: reasonOption,
  },
  sentence: "Sets a group's slots, pauses or resumes it; one that isn't there yet is made.",
  details: "Acts at once. Fewer slots stop nobody: the next one comes in when fewer are used.",
  run: async (context) => {
    const definition = take(readDefinitionName(context.args[0]));
    const { slots, reason } = context.options;
    const change = take(
      readGroupRequest({
        key: context.args[1],
        scope: context.flags.has("global") ? "global" : "definition",
        slots: slots !== undefined && /^\d{1,15}$/.test(slots) ? Number(slots) : slots,
        paused: oneOf(context, "pause", "resume"),
        strict: oneOf(context, "strict", "not-strict"),
        reason,
      }),
    );
    const admin = await context.admin();
    const { changedBy } = context;
    const answer = await admin.setGroup({ ...change, definition, changedBy });
    report(context, answer, () => {
      const { slots: count, paused, strict } = answer.new;
      const was = answer.old === null ? "new" : `it had ${String(answer.old.slots)}`;
      const state = `${paused ? ", paused" : ""}${strict ? ", strict" : ""}`;
      return `Group ${answer.key} of ${definition} has ${showNumber(count, "slot", "slots")} (${was})${state}: ${String(answer.used)} used, ${showNumber(answer.waiting, "task waits", "tasks wait")}.`;
    });
    return exitCodes.ok;
  },
};

/** true, false, or nothing said; both is a mistake. */
function oneOf(context: CommandContext, yes: string, no: string): boolean | undefined {
  const [isYes, isNo] = [context.flags.has(yes), context.flags.has(no)];
  if (isYes && isNo) {
    const expected = `either --${yes} or --${no}, not both`;
    throw invalidInput([{ field: `--${no}`, value: "both", expected }]);
  }
  return isYes ? true : isNo ? false : undefined;
}
