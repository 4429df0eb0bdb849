import { SettingsError } from "../core/errors";
import { replayPoison } from "../platform/poison-queue";
import { showNumber } from "../terminal/output";
import { maxOption, report } from "./command";
import type { Command } from "./command";
import { readWhole, readWord } from "./read-values";

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
    const [word = ""] = context.args;
    const queue = readWord("QUEUE", word, { words: queues, expected: "ingest or hints" });
    const max = readWhole("max", context.options["max"] ?? String(maxDefault), [1, maxLimit]);
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
  },
};
