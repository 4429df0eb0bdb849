import { take } from "../admin/read-result";
import { readDefinitionName, readOperatorRequest } from "../admin/requests";
import { nameParameter, reasonOption, report } from "./command";
import type { Command } from "./command";
import { exitCodes } from "./exit-codes";

/** `taskgate resume NAME` */
export const resumeCommand: Command = {
  name: "resume",
  group: "change",
  parameters: [nameParameter],
  options: { reason: reasonOption },
  sentence: "Starts tasks of a paused definition again.",
  examples: [{ line: "taskgate resume greet", sentence: "After a pause." }],
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
