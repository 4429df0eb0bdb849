import { invalidInput } from "../admin/read-result";
import { SettingsError } from "../core/errors";
import { replayPoison } from "../platform/poison-queue";
import { showNumber } from "../terminal/output";
import { maxOption, report } from "./command";
import type { Command } from "./command";
import { exitCodes } from "./exit-codes";

const maxDefault = 1_000;
const maxLimit = 100_000;
const queues = ["ingest", "hints"] as const;

/** `taskgate replay ingest|hints` */
export const replayCommand: Command = {
  name: "replay",
  group: "change",
  worksOn: "the storage account itself",
  parameters: [{ name: "QUEUE", values: queues }],
  options: { max: maxOption(maxLimit, maxDefault) },
  sentence: "Retries the messages of a poison queue: ingest or hints.",
  details: [
    "Fix the cause first: the message in the poison queue and the log have the error.",
    "An event that was ingested before makes no new tasks. A message that fails again returns to the poison queue.",
    "The storage account is that of AzureWebJobsStorage. An identity needs the role Storage Queue Data Contributor.",
  ].join("\n"),
  examples: [
    { line: "taskgate replay ingest", sentence: "Up to 1000 messages of the ingest queue." },
  ],
  run: async (context) => {
    const queue = readQueue(context.args[0]);
    const max = readMax(context.options["max"]);
    const { storage, ingestQueue, hintQueue } = context.target().settings;
    if (storage === null) {
      throw new SettingsError([
        "AzureWebJobsStorage: expected the storage account of the queues, got nothing. Set it, or AzureWebJobsStorage__accountName to sign in with an identity",
      ]);
    }
    const name = queue === "ingest" ? ingestQueue : hintQueue;
    const result = await replayPoison(storage, name, {
      max,
      onProgress: (moved, found) => {
        if (!context.isJson)
          context.output.error(`moved ${String(moved)} of about ${String(found)}`);
      },
    });
    report(context, { queue: name, ...result }, () =>
      [
        result.moved === 0
          ? `${name}-poison holds nothing that can be moved.`
          : `${showNumber(result.moved, "message is", "messages are")} in ${name} again.`,
        ...(result.left === 0 ? [] : [`About ${String(result.left)} are left in ${name}-poison.`]),
      ].join(" "),
    );
    return exitCodes.ok;
  },
};

function readQueue(word: string | undefined): (typeof queues)[number] {
  const queue = queues.find((name) => name === word);
  if (queue !== undefined) return queue;
  const value = `\`${(word ?? "").slice(0, 100)}\``;
  throw invalidInput([{ field: "QUEUE", value, expected: "ingest or hints" }]);
}

function readMax(text: string | undefined): number {
  if (text === undefined) return maxDefault;
  const max = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (max >= 1 && max <= maxLimit) return max;
  const expected = `a whole number in 1..${String(maxLimit)}`;
  throw invalidInput([{ field: "max", value: `\`${text.slice(0, 100)}\``, expected }]);
}
