import { take } from "../admin/read-result";
import { readDefinitionName, readOperatorRequest } from "../admin/requests";
import { acts } from "../admin/sentences";
import { optionalNameParameter, reasonOption, report } from "./command";
import type { Command, CommandContext } from "./command";
import { exitCodes } from "./exit-codes";
import type { CommandExitCode } from "./exit-codes";
import { refusal } from "./read-values";
import { describeStop } from "./stop";

/** `taskgate resume NAME`, `taskgate resume --all` */
export const resumeCommand: Command = {
  name: "resume",
  group: "change",
  parameters: [optionalNameParameter],
  options: {
    all: { short: "a", sentence: "All that `taskgate stop --all` has paused, in place of NAME." },
    reason: reasonOption,
  },
  sentence: `${acts.resume}.`,
  examples: [
    { line: "taskgate resume greet", sentence: "After a pause." },
    { line: "taskgate resume --all", sentence: "After `taskgate stop --all`." },
  ],
  run: async (context) => {
    const [name] = context.args;
    if (context.flags.has("all")) return resumeAll(context, name);
    if (name === undefined)
      throw refusal("NAME", "nothing", "the name of a definition, or --all after a stop");
    const definition = take(readDefinitionName(name));
    const change = take(readOperatorRequest({ reason: context.options["reason"] }));
    const admin = context.admin();
    const answer = await admin.resume({ ...change, definition, changedBy: context.changedBy });
    report(context, answer, () =>
      answer.status === "exists" ? `${definition} was not paused.` : `${definition} is resumed.`,
    );
    return exitCodes.ok;
  },
};

async function resumeAll(
  context: CommandContext,
  name: string | undefined,
): Promise<CommandExitCode> {
  if (name !== undefined) throw refusal("NAME", name, "either a definition or --all, not both");
  const change = take(readOperatorRequest({ reason: context.options["reason"] }));
  const admin = context.admin();
  const answer = await admin.resumeAll({ ...change, changedBy: context.changedBy });
  report(context, answer, () =>
    describeStop(answer, {
      done: "resumed",
      none: "There is nothing to resume: no stop is on.",
      next: "",
    }),
  );
  return answer.left.length === 0 ? exitCodes.ok : exitCodes.failed;
}
