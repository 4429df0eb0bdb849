import { readSharedLimitName } from "../admin/limit-requests";
import { invalidInput, take } from "../admin/object-reader";
import { readDefinitionName, readLimitRequest } from "../admin/requests";
import { limits } from "../core/limits";
import { reasonOption, report } from "./command";
import type { Command, CommandContext } from "./command";
import { exitCodes } from "./exit-codes";
import type { ExitCode } from "./exit-codes";
import { showLimit, showNumber } from "./output";

/** `taskgate limit NAME N|none|code` */
export const limitCommand: Command = {
  name: "limit",
  parameters: ["NAME", "N|none|code"],
  options: {
    shared: {
      type: "boolean",
      sentence: "NAME is a limit that definitions share; one that isn't there yet is made.",
    },
    reason: reasonOption,
  },
  sentence: "Sets how many tasks of a definition may run at once.",
  details: [
    "N: 0 (nothing starts) to 1000. none: no limit. code: the code's own limit again.",
    "Acts at once: more start right away; after lowering nobody is stopped, tokens come back as tasks end.",
  ].join("\n"),
  run: async (context) => {
    if (context.flags.has("shared")) return setShared(context);
    const definition = take(readDefinitionName(context.args[0]));
    const { reason } = context.options;
    const change = take(readLimitRequest({ limit: limitOf(context.args[1] ?? ""), reason }));
    const admin = await context.admin();
    const limit = await admin.setLimit({ ...change, definition, changedBy: context.changedBy });
    report(context, limit, () => {
      const surplus =
        limit.surplus === 0
          ? ""
          : ` ${showNumber(limit.surplus, "above the new limit comes back as its task ends", "above the new limit come back as their tasks end")}.`;
      return `The limit of ${definition} is ${showLimit(limit.newLimit)}, it was ${showLimit(limit.oldLimit)}. ${showNumber(limit.held, "token is", "tokens are")} held.${surplus}`;
    });
    return exitCodes.ok;
  },
};

async function setShared(context: CommandContext): Promise<ExitCode> {
  const name = take(readSharedLimitName(context.args[0]));
  const { reason } = context.options;
  const change = take(readLimitRequest({ limit: limitOf(context.args[1] ?? ""), reason }));
  const admin = await context.admin();
  const answer = await admin.setSharedLimit({ ...change, name, changedBy: context.changedBy });
  report(context, answer, () => {
    const was = answer.oldLimit === undefined ? "new" : `it was ${showLimit(answer.oldLimit)}`;
    return `The shared limit ${name} is ${showLimit(answer.newLimit)}, ${was}. ${showNumber(answer.held, "token is", "tokens are")} held, ${String(answer.surplus)} above it.`;
  });
  return exitCodes.ok;
}

function limitOf(text: string): number | "code" | null {
  if (text === "none") return null;
  if (text === "code") return text;
  if (/^\d{1,4}$/.test(text) && Number(text) <= limits.tokensMax) return Number(text);
  const expected = `none (no limit), code (the code's own again) or a whole number in 0..${String(limits.tokensMax)}`;
  throw invalidInput([{ field: "limit", value: `\`${text.slice(0, 100)}\``, expected }]);
}
