import { invalidInput, take } from "../admin/read-result";
import { parseJson } from "../admin/parse-json";
import { readDefinitionName } from "../admin/requests";
import { showsOrSets } from "../admin/sentences";
import { InvalidArgumentError } from "../core/errors";
import type { WatermarkReport } from "../admin/watermark-actions";
import { readWatermarkRequest } from "../admin/watermark-requests";
import { nameParameter, reasonOption, report, yesOption } from "./command";
import type { Command, CommandContext } from "./command";
import { exitCodes } from "./exit-codes";
import { showInstant } from "../terminal/output";

/** `taskgate watermark NAME WATERMARK` */
export const watermarkCommand: Command = {
  name: "watermark",
  group: "change",
  parameters: [nameParameter, { name: "WATERMARK" }],
  options: {
    set: { valueName: "JSON", sentence: "The new value: an object or array." },
    yes: yesOption,
    clear: {
      sentence:
        "Removes the value: blocks are made from the very start. Refused where there is none.",
    },
    "from-version": { valueName: "N", sentence: "Changes it only if this is its version." },
    reason: reasonOption,
  },
  sentence: `${showsOrSets.watermark}.`,
  details: [
    "A value further back makes blocks again, a value further on skips data.",
    "Existing tasks stay as they are; the next run that makes blocks starts from the value.",
  ].join("\n"),
  examples: [
    { line: "taskgate watermark import-orders by-id", sentence: "The value and its version." },
    {
      line: `taskgate watermark import-orders by-id --set '{"last":"5000"}'`,
      sentence: "Makes the blocks behind 5000 again.",
    },
    { line: "taskgate watermark import-orders by-id --clear", sentence: "Makes all blocks again." },
  ],
  run: async (context) => {
    const definition = take(readDefinitionName(context.args[0]));
    const { "from-version": version, reason } = context.options;
    const value = readValue(context);
    const watermark = context.args[1] ?? "";
    const change = take(readWatermarkRequest({ watermark, value: value ?? null, version, reason }));
    const admin = context.admin();
    if (value === undefined) {
      const name = { name: definition, watermark: change.watermark };
      const [found] = await admin.watermarks({ ...name, max: 1 });
      report(context, found ?? null, () => {
        const stands = found === undefined ? "there is none yet" : describe(found);
        return `Watermark ${change.watermark} of ${definition}: ${stands}.`;
      });
      return exitCodes.ok;
    }
    const { changedBy } = context;
    const what = async (): Promise<string> => {
      const [now] = await admin.watermarks({ name: definition, watermark, max: 1 });
      const stands = now === undefined ? "none" : describe(now);
      const then = change.value === null ? "all blocks are made again" : `becomes ${change.value}`;
      return `Watermark ${watermark} of ${definition} is ${stands}; ${then}.`;
    };
    if (!(await context.confirm(what))) return exitCodes.failed;
    const answer = await admin.setWatermark({ ...change, definition, changedBy });
    const old = answer.old === null ? "none" : JSON.stringify(answer.old);
    report(context, answer, () =>
      answer.status === "set"
        ? `Watermark ${answer.watermark} of ${definition} is ${change.value ?? "none"} now, version ${answer.version}; it was ${old}.`
        : `Nothing was set: watermark ${answer.watermark} of ${definition} is ${old}, version ${answer.version}.`,
    );
    return answer.status === "set" ? exitCodes.ok : exitCodes.failed;
  },
};

function describe({ value, version, changedAt }: WatermarkReport): string {
  const shown = value === null ? "none" : JSON.stringify(value);
  return `${shown}, version ${version}, since ${showInstant(changedAt)}`;
}

/** null: to be cleared; undefined: only to be shown. */
function readValue({ options, flags }: CommandContext): unknown {
  const { set } = options;
  const isClear = flags.has("clear");
  if (set !== undefined && isClear) {
    const expected = "either --set or --clear, not both";
    throw invalidInput([{ field: "--clear", value: "both", expected }]);
  }
  if (set === undefined) return isClear ? null : undefined;
  try {
    const value = take(parseJson(set, { root: "value", at: "value" }));
    // null is for --clear: said by mistake it would begin anew.
    return value ?? "null";
  } catch (error) {
    if (error instanceof InvalidArgumentError) throw error;
    return set;
  }
}
