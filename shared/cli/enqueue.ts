import { readEnqueueRequest } from "../admin/enqueue-request";
import { invalidInput, take } from "../admin/read-result";
import { parseJson } from "../admin/parse-json";
import { readDefinitionName } from "../admin/requests";
import type { EnqueueReport } from "../admin/create-admin";
import { InvalidArgumentError } from "../core/errors";
import { nameParameter, report } from "./command";
import type { Command, CommandContext } from "./command";
import { exitCodes } from "./exit-codes";
import { showDuration, showNumber } from "../terminal/output";
import { numberOf, readTime, refusal, runInMax } from "./read-values";
import { showIds } from "./task-results";

/** `taskgate enqueue NAME` */
export const enqueueCommand: Command = {
  name: "enqueue",
  group: "change",
  parameters: [nameParameter],
  options: {
    payload: { type: "string", short: "p", valueName: "JSON", sentence: "A JSON object or array." },
    file: {
      type: "string",
      short: "f",
      valueName: "FILE",
      sentence: "A file with the JSON; .jsonl has one task per line; - is standard input.",
    },
    kind: {
      type: "string",
      valueName: "NAME",
      sentence: "Handler; default: the definition's own name.",
    },
    "allow-unknown-kind": {
      type: "boolean",
      sentence: "Allows a handler that the app beside this command doesn't have.",
    },
    priority: {
      type: "string",
      valueName: "N",
      sentence: "Lower first, -32768..32767; default 100.",
    },
    group: {
      type: "string",
      valueName: "KEY",
      sentence: "Tasks of one group run one after the other; default: the handler's own rule.",
    },
    "no-group": {
      type: "boolean",
      sentence: "No group, also where the handler's code would choose one.",
    },
    "run-in": {
      type: "string",
      valueName: "TIME",
      sentence: "The earliest start, from now: 90s, 10m, 2h, 1d.",
    },
    "run-at": {
      type: "string",
      valueName: "INSTANT",
      sentence: "The earliest start as an instant: 2030-01-31T08:30:00Z.",
    },
    "dedupe-key": {
      type: "string",
      valueName: "KEY",
      sentence: "Adds no second task of that key until the first has ended.",
    },
    replace: {
      type: "boolean",
      sentence: "Gives a waiting task of that key the new payload.",
    },
  },
  sentence: "Adds tasks to a definition and wakes a worker.",
  details: [
    "`taskgate explain ID` follows a task by the id that is printed.",
    "Without --payload and --file the task has no payload.",
  ].join("\n"),
  examples: [
    { line: `taskgate enqueue greet --payload '{"name":"Ada"}'`, sentence: "One task." },
    { line: "taskgate enqueue greet --run-in 10m", sentence: "A task that starts in 10 minutes." },
    {
      line: `echo '{"name":"Ada"}' | taskgate enqueue greet --file -`,
      sentence: "The payload of another program.",
    },
  ],
  run: async (context) => {
    const definition = take(readDefinitionName(context.args[0]));
    const request = take(readEnqueueRequest({ tasks: tasksOf(context) }));
    const allowsUnknownKind = context.flags.has("allow-unknown-kind");
    const result = await (
      await context.admin()
    ).enqueue({ ...request, definition, allowsUnknownKind, changedBy: context.changedBy });
    report(context, result, () => describe(result) + whenItStarts(context, result));
    return exitCodes.ok;
  },
};

function describe(result: EnqueueReport): string {
  const { definition, tasks } = result;
  const [first] = tasks;
  if (tasks.length === 1 && first !== undefined) {
    return {
      replaced: `Task ${first.task} has that dedupe key already; it carries the new payload.`,
      duplicate: `Task ${first.task} has that dedupe key already; nothing was added.`,
      enqueued: `Task ${first.task} was added to ${definition}.`,
    }[first.outcome];
  }
  const added = tasks.filter(({ outcome }) => outcome === "enqueued").map(({ task }) => task);
  const replaced =
    result.replaced === 0
      ? ""
      : `, ${showNumber(result.replaced, "carries", "carry")} the new payload`;
  return `${showNumber(result.enqueued, "task was", "tasks were")} added to ${definition}${added.length === 0 ? "" : ` (${showIds(added)})`}, ${showNumber(result.duplicates, "was", "were")} there already${replaced}.`;
}

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
    throw refusal("--group", group, "either --group or --no-group, not both");
  }
  const options = {
    kind,
    group: context.flags.has("no-group") ? null : group,
    priority: numberOf(context.options["priority"]),
    ...readStart(context),
    dedupeKey: context.options["dedupe-key"],
    onDuplicate: context.flags.has("replace") ? "replace" : undefined,
  };
  return payloadsOf(context).map((payload) => ({ payload, ...options }));
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
    throw invalidInput([
      { field, value, expected: `JSON, such as '{"orderId":"17"}' in single quotes` },
    ]);
  }
}

/** The earliest start; neither: now. */
function readStart({ options }: CommandContext): { runInMs?: number; runAt?: string } {
  const { "run-in": wait, "run-at": instant } = options;
  if (wait !== undefined && instant !== undefined)
    throw refusal("--run-at", instant, "either --run-in or --run-at, not both");
  if (instant !== undefined) return { runAt: instant };
  return wait === undefined ? {} : { runInMs: readTime("--run-in", wait, runInMax) };
}
