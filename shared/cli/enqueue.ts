import { readEnqueueRequest } from "../admin/enqueue-request";
import { invalidInput, take } from "../admin/object-reader";
import { parseJson } from "../admin/parse-json";
import { readDefinitionName } from "../admin/requests";
import { InvalidArgumentError } from "../core/errors";
import { report } from "./command";
import type { Command, CommandContext } from "./command";
import { exitCodes } from "./exit-codes";
import { showDuration, showNumber } from "./output";

/** `taskgate enqueue NAME` */
export const enqueueCommand: Command = {
  name: "enqueue",
  parameters: ["NAME"],
  options: {
    payload: { type: "string", valueName: "JSON", sentence: "A JSON object or array." },
    file: {
      type: "string",
      valueName: "FILE",
      sentence: "A file with the JSON; .jsonl: a task per line; - is standard input.",
    },
    kind: {
      type: "string",
      valueName: "NAME",
      sentence: "Handler; default: the definition's own name.",
    },
    "allow-unknown-kind": {
      type: "boolean",
      sentence: "The handler belongs to other code than this command line knows.",
    },
    priority: {
      type: "string",
      valueName: "N",
      sentence: "Lower first, -32768..32767; default 100.",
    },
    group: {
      type: "string",
      valueName: "KEY",
      sentence: "Tasks of one group run one after the other; default: what the kind says.",
    },
    "no-group": {
      type: "boolean",
      sentence: "No group, where only the kind's code could tell it and isn't at hand.",
    },
    "run-in-ms": { type: "string", valueName: "MS", sentence: "Not before so long from now." },
    "dedupe-key": {
      type: "string",
      valueName: "KEY",
      sentence: "No second task of that key until the first has ended.",
    },
    replace: {
      type: "boolean",
      sentence: "The first task of that key carries the new payload, if nobody has begun it.",
    },
  },
  sentence: "Adds tasks to a definition and wakes a worker.",
  details: [
    "The number of every task is printed; `taskgate explain NUMBER` tells how it is doing.",
    "Without --payload and --file the task has no payload.",
  ].join("\n"),
  run: async (context) => {
    const definition = take(readDefinitionName(context.args[0]));
    const request = take(readEnqueueRequest({ tasks: tasksOf(context) }));
    const allowsUnknownKind = context.flags.has("allow-unknown-kind");
    const result = await (
      await context.admin()
    ).enqueue({ ...request, definition, allowsUnknownKind });
    report(context, result, () => {
      const [first] = result.tasks;
      const which =
        result.tasks.length === 1 && first !== undefined
          ? first.outcome === "replaced"
            ? `Task ${first.task} has that dedupe key already; it carries the new payload.`
            : first.outcome === "duplicate"
              ? `Task ${first.task} has that dedupe key already; nothing was added.`
              : `Task ${first.task} was added to ${definition}.`
          : `${showNumber(result.enqueued, "task was", "tasks were")} added to ${definition}, ${showNumber(result.duplicates, "was", "were")} there already${result.replaced === 0 ? "" : `, ${showNumber(result.replaced, "carries", "carry")} the new payload`}.`;
      return which + whenItStarts(context, result);
    });
    return exitCodes.ok;
  },
};

function whenItStarts(
  context: CommandContext,
  result: { enqueued: number; nextDueMs: number | null },
): string {
  if (result.enqueued === 0) return "";
  if (result.nextDueMs !== null) return ` It is due in ${showDuration(result.nextDueMs)}.`;
  const isQueueKnown = context.target().settings.storage !== null;
  return isQueueKnown
    ? " A worker is told."
    : " No queue is known here (AzureWebJobsStorage): the next sweep finds it.";
}

function tasksOf(context: CommandContext): unknown[] {
  const { kind, group } = context.options;
  if (group !== undefined && context.flags.has("no-group")) {
    throw invalidInput([
      {
        field: "--group",
        value: `\`${group}\``,
        expected: "either --group or --no-group, not both",
      },
    ]);
  }
  const options = {
    kind,
    group: context.flags.has("no-group") ? null : group,
    priority: numberOf(context.options["priority"]),
    runInMs: numberOf(context.options["run-in-ms"]),
    dedupeKey: context.options["dedupe-key"],
    onDuplicate: context.flags.has("replace") ? "replace" : undefined,
  };
  return payloadsOf(context).map((payload) => ({ payload, ...options }));
}

function payloadsOf(context: CommandContext): unknown[] {
  const { payload, file } = context.options;
  if (payload !== undefined && file !== undefined) {
    throw invalidInput([
      { field: "--file", value: `\`${file}\``, expected: "either --payload or --file, not both" },
    ]);
  }
  if (payload !== undefined) return [readJson(payload, "--payload")];
  if (file === undefined) return [null];
  const text = context.readFile(file);
  if (!/\.(jsonl|ndjson)$/i.test(file)) return [readJson(text, `--file ${file}`)];
  return text
    .split("\n")
    .map((line, index) => ({ line: line.trim(), field: `${file}:${String(index + 1)}` }))
    .filter(({ line }) => line !== "")
    .map(({ line, field }) => readJson(line, field));
}

function readJson(text: string, field: string): unknown {
  try {
    return take(parseJson(text, { root: field, at: field }));
  } catch (error) {
    if (error instanceof InvalidArgumentError) throw error;
    const value = `\`${text.slice(0, 60)}\``;
    throw invalidInput([
      { field, value, expected: `JSON, such as '{"orderId":"17"}' in single quotes` },
    ]);
  }
}

/** What isn't a number stays a text, and the reader says what is expected. */
function numberOf(text: string | undefined): unknown {
  return text !== undefined && /^-?\d{1,15}$/.test(text) ? Number(text) : text;
}
