import { take } from "../admin/object-reader";
import { readDefinitionName, readOperatorRequest } from "../admin/requests";
import { reasonOption, report } from "./command";
import type { Command } from "./command";
import { exitCodes } from "./exit-codes";

/** `taskgate resume NAME` */
export const resumeCommand: Command = {
  name: "resume",
  parameters: ["NAME"],
  options: {
    reason: reasonOption,
  },
  sentence: "Lets a paused definition start tasks again.",
  run: async (context) => {
    const definition = take(readDefinitionName(context.args[0]));
    const change = take(readOperatorRequest({ reason: context.options["reason"] }));
    const admin = await context.admin();
    const answer = await admin.resume({ ...change, definition, changedBy: context.changedBy });
    report(context, answer, () =>
      answer.status === "exists" ? `${definition} was not paused.` : `${definition} is resumed.`,
    );
    return exitCodes.ok;
  },
};
