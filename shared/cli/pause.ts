import { take } from "../admin/object-reader";
import { readDefinitionName, readOperatorRequest } from "../admin/requests";
import { reasonOption, report } from "./command";
import type { Command } from "./command";
import { exitCodes } from "./exit-codes";

/** `taskgate pause NAME` */
export const pauseCommand: Command = {
  name: "pause",
  parameters: ["NAME"],
  options: {
    reason: reasonOption,
  },
  sentence: "Lets nothing new of a definition start; what runs goes on.",
  run: async (context) => {
    const definition = take(readDefinitionName(context.args[0]));
    const change = take(readOperatorRequest({ reason: context.options["reason"] }));
    const admin = await context.admin();
    const answer = await admin.pause({ ...change, definition, changedBy: context.changedBy });
    report(context, answer, () =>
      answer.status === "exists"
        ? `${definition} was paused already.`
        : `${definition} is paused: nothing new starts until \`taskgate resume ${definition}\`.`,
    );
    return exitCodes.ok;
  },
};
