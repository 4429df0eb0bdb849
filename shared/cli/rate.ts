import { readRateRequest } from "../admin/limit-requests";
import { take } from "../admin/read-result";
import { readDefinitionName } from "../admin/requests";
import { showsOrSets } from "../admin/sentences";
import { readDuration } from "../core/duration";
import { nameParameter, reasonOption, report } from "./command";
import type { Command, CommandContext } from "./command";
import { exitCodes } from "./exit-codes";
import type { ExitCode } from "./exit-codes";
import { showRate } from "../terminal/output";
import { numberOf, refusal, refuseGiven } from "./read-values";

/** `taskgate rate NAME [RATE]` */
export const rateCommand: Command = {
  name: "rate",
  group: "change",
  parameters: [nameParameter, { name: "RATE", isOptional: true, values: ["none", "code"] }],
  options: {
    burst: {
      valueName: "N",
      sentence: "Starts at once after a pause; default: what refills in 100 ms.",
    },
    reason: reasonOption,
  },
  sentence: `${showsOrSets.rate}.`,
  details: [
    "RATE: 100/min, 5/s, 1000/1h, 20/1500ms; a period is 1s to 1d. none: no rate; code: the rate that the code says.",
    "Takes effect with the next task. Starts already used count against the new burst.",
  ].join("\n"),
  examples: [
    { line: "taskgate rate greet", sentence: "The rate." },
    {
      line: "taskgate rate greet 100/min --burst 5",
      sentence: "At most 100 per minute, 5 at once.",
    },
    { line: "taskgate rate greet code", sentence: "The rate that the code says." },
  ],
  run: async (context) => {
    const definition = take(readDefinitionName(context.args[0]));
    const { burst, reason } = context.options;
    if (context.args[1] === undefined) return show(context, definition);
    const rate = rateOf(context.args[1], burst);
    const change = take(readRateRequest({ rate, reason }));
    const admin = context.admin();
    const answer = await admin.setRate({ ...change, definition, changedBy: context.changedBy });
    report(context, answer, () => {
      const was = answer.status === "exists" ? "as before" : `it was ${showRate(answer.oldRate)}`;
      return `The rate of ${definition} is ${showRate(answer.newRate)}, ${was}.`;
    });
    return exitCodes.ok;
  },
};

async function show(context: CommandContext, name: string): Promise<ExitCode> {
  refuseGiven(context, ["burst", "reason"], "it only together with a RATE");
  const [found] = await context.admin().definitions(name);
  if (found === undefined) return exitCodes.notFound;
  const { rate, rateSource, codeRate } = found;
  report(
    context,
    { definition: name, rate, rateSource, codeRate },
    () => `The rate of ${name} is ${showRate(rate)} (set by the ${rateSource}).`,
  );
  return exitCodes.ok;
}

/** The rate as a request writes it. */
function rateOf(text: string, burst: string | undefined): unknown {
  if (text === "none" || text === "code") {
    if (burst === undefined) return text === "none" ? null : text;
    throw refusal("--burst", burst, "no burst without a rate");
  }
  const [, count, period = ""] = /^(\d{1,9})\/(\w{1,20})$/.exec(text) ?? [];
  const periodMs = readDuration(/^\d/.test(period) ? period : `1${period}`);
  if (count === undefined || periodMs === null) {
    const expected =
      "COUNT/PERIOD such as 100/min or 20/5s, none (no rate) or code (the code's own)";
    throw refusal("rate", text, expected);
  }
  const rate = { count: Number(count), periodMs };
  if (burst === undefined) return rate;
  return { ...rate, burst: numberOf(burst) };
}
