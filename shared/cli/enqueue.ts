import { readEnqueueRequest } from "../admin/enqueue-request";
import { invalidInput, take } from "../admin/read-result";
import { parseJson } from "../admin/parse-json";
import { readDefinitionName } from "../admin/requests";
import { acts } from "../admin/sentences";
import { InvalidArgumentError } from "../core/errors";
import { nameParameter, report } from "./command";
import type { Command, CommandContext } from "./command";
import { enqueueFrom } from "./enqueue-from";
import { describeEnqueue, firstAdded, whenItStarts } from "./enqueue-texts";
import { exitCodes } from "./exit-codes";
import { refuseWithoutFrom } from "./from-options";
import { refusal } from "./read-values";
import { membersOf, taskOptions } from "./task-options";
import { formats } from "./task-source";

/** `taskgate enqueue NAME` */
export const enqueueCommand: Command = {
  name: "enqueue",
  group: "change",
  parameters: [nameParameter],
  options: {
    payload: { short: "p", valueName: "JSON", sentence: "A JSON object or array." },
    file: {
      short: "f",
      valueName: "FILE",
      sentence:
        "A file with the JSON, up to 16 MiB; .jsonl has one task per line; - is standard input.",
    },
    from: {
      valueName: "FILE",
      sentence: "A file of any length with a payload per line, or a CSV file; - is standard input.",
    },
    format: {
      valueName: "FORMAT",
      values: formats,
      sentence: "With --from: ndjson or csv; default: as the file's name ends, else ndjson.",
    },
    typed: {
      sentence: "With --from, CSV: numbers, true, false and null outside of quotes aren't texts.",
    },
    "key-field": {
      formerName: "key",
      valueName: "FIELD",
      sentence: "With --from: the payload's field with the dedupe key, such as id or order.id.",
    },
    "key-for": {
      valueName: "TIME",
      sentence: "With --key-field: how long a key counts as enqueued, up to 365d; default 1d.",
    },
    "after-line": { valueName: "N", sentence: "With --from: goes on behind this line." },
    ...taskOptions,
    "dedupe-key": {
      valueName: "KEY",
      sentence: "Adds no second task of that key until the first has ended.",
    },
    replace: { sentence: "Gives a waiting task of that key the new payload." },
  },
  sentence: `${acts.enqueue}.`,
  details: [
    "`taskgate explain ID` follows a task by the id that is printed.",
    "Without --payload, --file and --from the task has no payload.",
    "In the folder of a built app, the app's code checks kind and payload. Where it can't be loaded, standard error says so.",
    "--from reads and adds 1,000 tasks at a time. A bad line is named, and neither its 1,000 nor what follows is added.",
    "The first line of a CSV file names the payload's fields. Ctrl+C ends behind the current 1,000, with exit code 130.",
    "With --key-field a repeat adds no task twice. --after-line goes on where a run has ended, as its message says.",
    "Lines of `taskgate export` give payload, kind, priority, dedupe key and group; options here win.",
    "With --json each 1,000 tasks print a line with the sums so far; `state` of the last one is done or stopped.",
  ].join("\n"),
  examples: [
    { line: `taskgate enqueue greet --payload '{"name":"Ada"}'`, sentence: "One task." },
    { line: "taskgate enqueue greet --run-in 10m", sentence: "A task that starts in 10 minutes." },
    {
      line: `echo '{"name":"Ada"}' | taskgate enqueue greet --file -`,
      sentence: "The payload of another program.",
    },
    {
      line: String.raw`printf 'id,name\n7,Ada\n8,Bo\n' | taskgate enqueue greet --from - --format csv --key-field id`,
      sentence: "A task for each row; a repeat adds none.",
    },
  ],
  run: async (context) => {
    const definition = take(readDefinitionName(context.args[0]));
    if (context.options["from"] !== undefined) return enqueueFrom(context, definition);
    refuseWithoutFrom(context);
    const request = take(readEnqueueRequest({ tasks: tasksOf(context) }));
    const allowsUnknownKind = context.flags.has("allow-unknown-kind");
    const { changedBy } = context;
    const call = { ...request, definition, allowsUnknownKind, changedBy };
    const result = await context.admin().enqueue(call);
    const start = context.isJson ? "" : await whenItStarts(context, result, firstAdded(result));
    report(context, result, () => describeEnqueue(result) + start);
    return exitCodes.ok;
  },
};

function tasksOf(context: CommandContext): unknown[] {
  const members = {
    ...membersOf(context),
    dedupeKey: context.options["dedupe-key"],
    onDuplicate: context.flags.has("replace") ? "replace" : undefined,
  };
  return payloadsOf(context).map((payload) => ({ payload, ...members }));
}

function payloadsOf(context: CommandContext): unknown[] {
  const { payload, file } = context.options;
  if (payload !== undefined && file !== undefined) {
    throw refusal("--file", file, "either --payload or --file, not both");
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
    const example = `JSON, such as '{"orderId":"17"}'`;
    const expected =
      field === "--payload"
        ? `${example} (cmd and PowerShell before 7.3 take its quotes away: use --file there)`
        : example;
    throw invalidInput([{ field, value, expected }]);
  }
}
