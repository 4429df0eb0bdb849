import { readEnqueueRequest } from "../admin/enqueue-request";
import { take } from "../admin/read-result";
import { limits } from "../core/limits";
import type { NewTask } from "../ports/task-store";
import type { CommandContext } from "./command";
import { readTime, readWord, refusal, refuseGiven } from "./read-values";
import { membersOf } from "./task-options";
import { formats } from "./task-source";
import type { SourceOptions } from "./task-source";

/** The options of `taskgate enqueue NAME --from FILE`. */

/** The tasks to enqueue, and their options. */
export interface FromPlan extends SourceOptions {
  readonly definition: string;
  readonly path: string;
  /** The file, for people. */
  readonly source: string;
  /** What the options say of each task, checked; its payload stands for nothing. */
  readonly template: NewTask;
  readonly allowsUnknownKind: boolean;
  /** Time for which a key counts as enqueued. */
  readonly keyMs: number;
}

const fromOnly = ["format", "key-field", "key-for", "after-line", "typed"];
const keyMsMax = "365d";

/** Throws InvalidArgumentError that names an option which says something with --from only. */
export function refuseWithoutFrom(context: CommandContext): void {
  refuseGiven(context, fromOnly, "it only together with --from");
}

/** Throws InvalidArgumentError that names the option, its value and what to write instead. */
export function readPlan(context: CommandContext, definition: string): FromPlan {
  const { options, flags } = context;
  const { from: path = "", "key-field": key } = options;
  for (const name of ["payload", "file"])
    refuseGiven(context, [name], `either --${name} or --from, not both`);
  refuseGiven(context, ["dedupe-key"], "--key-field FIELD instead: one key for all adds one task");
  const byName = /\.csv$/i.test(path) ? "csv" : "ndjson";
  const format = readWord("--format", options["format"] ?? byName, { words: formats });
  if (flags.has("typed") && format !== "csv")
    throw refusal("--typed", "true", "it only for a CSV file: the values of JSON have their types");
  if (key === undefined)
    refuseGiven(context, ["key-for", "replace"], "it only together with --key-field");
  else checkKey(key, format);
  return {
    definition,
    path,
    source: path === "-" ? "standard input" : path,
    format,
    isTyped: flags.has("typed"),
    key,
    keyMs: readTime("--key-for", options["key-for"] ?? "1d", { max: keyMsMax }),
    afterLine: readLineNumber(options["after-line"]),
    template: {
      ...readTemplate(context),
      ...(flags.has("replace") ? { onDuplicate: "replace" } : {}),
    },
    allowsUnknownKind: flags.has("allow-unknown-kind"),
  };
}

/** A column may be named anyhow; in JSON a dot leads into an object. */
function checkKey(key: string, format: FromPlan["format"]): void {
  const form = format === "csv" ? /^[^.]+$/ : /^[^.]+(\.[^.]+)*$/;
  if (key.length <= limits.nameLengthMax && form.test(key)) return;
  const expected =
    format === "csv"
      ? "the name of a column, without a dot"
      : "the name of a field of the payload, or several joined by dots, such as order.id";
  throw refusal("--key-field", key, expected);
}

function readLineNumber(text: string | undefined): number {
  if (text === undefined) return 0;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw refusal("--after-line", text, "a whole number, the last line that isn't read again");
}

function readTemplate(context: CommandContext): NewTask {
  const { tasks } = take(readEnqueueRequest({ tasks: [{ payload: null, ...membersOf(context) }] }));
  return tasks[0] ?? { payload: null };
}
