import { SettingsError } from "../core/errors";
import { readDelivery } from "../admin/delivery";
import { peekPoison, replayPoison } from "../platform/poison-queue";
import type { Peeked } from "../platform/poison-queue";
import { showNumber } from "../terminal/output";
import { maxOption, report } from "./command";
import type { Command } from "./command";
import { readWhole, readWord, refuseGiven } from "./read-values";

const maxDefault = 1_000;
const maxLimit = 100_000;
const queues = ["ingest", "hints"] as const;

/** `taskgate replay ingest|hints` */
export const replayCommand: Command = {
  name: "replay",
  group: "change",
  worksOn: "the storage account itself",
  parameters: [{ name: "QUEUE", values: queues }],
  options: {
    "dry-run": {
      sentence: "Only counts the messages, and tells the reasons of the first 32; moves none.",
    },
    max: maxOption(maxLimit, maxDefault),
  },
  sentence: "Retries the messages of a poison queue: ingest or hints.",
  details: [
    "Fix the cause first: the message in the poison queue and the log have the error.",
    "An event that was ingested before makes no new tasks. A message that fails again returns to the poison queue.",
    "The storage account is that of AzureWebJobsStorage. An identity needs the role Storage Queue Data Contributor.",
  ].join("\n"),
  examples: [
    { line: "taskgate replay ingest --dry-run", sentence: "How many there are, and why." },
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
    if (context.flags.has("dry-run")) {
      refuseGiven(context, ["max"], "it only without --dry-run");
      const answer = { queue: name, ...reasonsOf(await peekPoison(storage, name)) };
      report(context, answer, () => describeReasons(answer));
      return;
    }
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

/** Reasons of messages, most first. */
interface Reasons extends Pick<Peeked, "count"> {
  /** Messages whose reason was read. */
  readonly lookedAt: number;
  /** null: the host moved them there after its tries, without a reason. */
  readonly reasons: readonly { readonly reason: string | null; readonly count: number }[];
}

/** Of a message that no handler has seen. */
const unread =
  "no reason: it is plain text. A host whose messageEncoding is base64, the default, can't read it: send it as base64. Any other host gave up after its tries; the log has the errors";

function reasonsOf({ count, messages }: Peeked): Reasons {
  const counts = new Map<string | null, number>();
  for (const { text, isPlain } of messages) {
    const reason = readDelivery(text).reason ?? (isPlain ? unread : null);
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  const reasons = [...counts].map(([reason, of]) => ({ reason, count: of }));
  reasons.sort((left, right) => right.count - left.count);
  return { count, lookedAt: messages.length, reasons };
}

function describeReasons({ queue, count, lookedAt, reasons }: Reasons & { queue: string }): string {
  if (count === 0) return `${queue}-poison holds no message.`;
  const held = `${queue}-poison holds about ${showNumber(count, "message", "messages")}; nothing was moved.`;
  if (lookedAt === 0) return `${held} Other readers hide them at this moment.`;
  const told = reasons.map(
    ({ reason, count: of }) =>
      `  ${String(of)}: ${reason ?? "no reason: the host gave up after its tries; the log has the errors"}`,
  );
  return [`${held} Reasons of the first ${String(lookedAt)}:`, ...told].join("\n");
}
