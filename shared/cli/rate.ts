import { readRateRequest } from "../admin/limit-requests";
import { invalidInput, take } from "../admin/object-reader";
import { readDefinitionName } from "../admin/requests";
import { reasonOption, report } from "./command";
import type { Command } from "./command";
import { exitCodes } from "./exit-codes";
import { showRate } from "./output";

/** `taskgate rate NAME COUNT/PERIOD|none|code` */
export const rateCommand: Command = {
  name: "rate",
  parameters: ["NAME", "COUNT/PERIOD|none|code"],
  options: {
    burst: {
      type: "string",
      valueName: "N",
      sentence: "So many may start at once after a pause; default: what refills in 100 ms.",
    },
    reason: reasonOption,
  },
  sentence: "Sets how many tasks of a definition may start per period.",
  details: [
    "COUNT/PERIOD: such as 100/min, 5/s, 1000/1h, 20/1500ms; a second to a day. none: no rate. code: the code's own again.",
    "Acts at the next claim; what was used of the old burst is used of the new one.",
  ].join("\n"),
  run: async (context) => {
    const definition = take(readDefinitionName(context.args[0]));
    const { burst, reason } = context.options;
    const rate = rateOf(context.args[1] ?? "", burst);
    const change = take(readRateRequest({ rate, reason }));
    const admin = await context.admin();
    const answer = await admin.setRate({ ...change, definition, changedBy: context.changedBy });
    report(context, answer, () => {
      const was = answer.status === "exists" ? "as before" : `it was ${showRate(answer.oldRate)}`;
      return `The rate of ${definition} is ${showRate(answer.newRate)}, ${was}.`;
    });
    return exitCodes.ok;
  },
};

const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** The rate as a request writes it. */
function rateOf(text: string, burst: string | undefined): unknown {
  if (text === "none" || text === "code") {
    if (burst === undefined) return text === "none" ? null : text;
    throw invalidInput([{ field: "--burst", value: burst, expected: "no burst without a rate" }]);
  }
  const [, count, length = "1", unit = ""] =
    /^(\d{1,9})\/(\d{1,9})?(ms|s|min|h|d)$/.exec(text) ?? [];
  if (count === undefined) {
    const expected =
      "COUNT/PERIOD such as 100/min or 20/5s, none (no rate) or code (the code's own)";
    throw invalidInput([{ field: "rate", value: `\`${text.slice(0, 100)}\``, expected }]);
  }
  const rate = { count: Number(count), periodMs: Number(length) * (unitMs[unit] ?? 1) };
  if (burst === undefined) return rate;
  return { ...rate, burst: /^\d{1,9}$/.test(burst) ? Number(burst) : burst };
}
