import { take } from "../admin/read-result";
import { readTaskId } from "../admin/requests";
import { readListTasksQuery } from "../admin/task-list-request";
import type { ListTasksRequest } from "../admin/task-list-request";
import { standingsNote } from "../core/listable-states";
import type { ListableState, TaskListEntry } from "../ports/task-store";
import type { CommandContext, CommandOption, GivenWords } from "./command";
import { refusal, refuseGiven, sinceText } from "./read-values";

/** Options that leave some tasks of a definition: of lists, and of changes of many tasks. */

/** Of tasks in any state. */
export const taskFilters = {
  key: { valueName: "KEY", sentence: "Only the tasks with this dedupe key." },
  "key-prefix": { valueName: "TEXT", sentence: "Only tasks whose dedupe key begins so." },
  group: { valueName: "KEY", sentence: "Only tasks of this group." },
  batch: { valueName: "ID", sentence: "Only tasks of this batch." },
  since: {
    valueName: "TIME",
    sentence:
      "Only tasks added within that time before now (2h, 7d) by the clock of this computer, or since an instant.",
  },
  before: {
    valueName: "INSTANT",
    sentence: "Only tasks added before an instant: 2030-01-31T08:30:00Z.",
  },
  where: {
    valueName: "PATH=VALUE",
    sentence: "Only tasks with this value in their payload: customer.id=42.",
  },
} as const satisfies Record<string, CommandOption>;

/** Of tasks that no worker has claimed, and that wait for no wave. */
export const waitingStates = ["scheduled", "waiting", "ready"] as const;

/** `--state STATE`, of these. */
export function stateOption(values: readonly string[], sentence: string): CommandOption {
  return { short: "s", valueName: "STATE", isList: true, values, sentence };
}

/** Of tasks that have ended. */
export const endedFilters = {
  "ended-since": {
    valueName: "TIME",
    sentence:
      "Only tasks that ended within that time before now by the clock of this computer, or since an instant.",
  },
  "ended-before": { valueName: "INSTANT", sentence: "Only tasks that ended before an instant." },
} as const satisfies Record<string, CommandOption>;

/** Looked for here, in the lists that the database answers. */
export const errorFilter = {
  error: {
    valueName: "TEXT",
    sentence: "Only tasks whose last error has this text in it; upper and lower case count.",
  },
} as const satisfies Record<string, CommandOption>;

/** Of lists in any state. */
export const listFilters = { ...taskFilters, ...endedFilters, ...errorFilter } as const;

/** Is a task of a list wanted? */
export type TaskFits = (task: Pick<TaskListEntry, "error">) => boolean;

/** Does the task's error have the text of `--error`? Throws InvalidArgumentError for an empty one. */
export function readErrorFilter({ options }: CommandContext): TaskFits | null {
  const { error } = options;
  if (error === undefined) return null;
  if (error === "") throw refusal("--error", "", "a part of the error");
  return (task) => task.error?.includes(error) === true;
}

/** The options that have another name than the member of the request, which is the HTTP API's. */
const optionOf: Readonly<Record<string, string>> = {
  keyPrefix: "--key-prefix",
  since: "--since",
  before: "--before",
  endedSince: "--ended-since",
  endedBefore: "--ended-before",
};

/** Which tasks the options leave, with what the command itself decides. Throws InvalidArgumentError that names the option. */
export function readFilters(
  { options }: CommandContext,
  others: { readonly state: string | undefined; readonly max: string | undefined },
): ListTasksRequest {
  const { key, group, batch, where } = options;
  const read = readListTasksQuery({
    ...{ key, group, batch, where, ...others },
    keyPrefix: options["key-prefix"],
    since: sinceText(options["since"]),
    before: options["before"],
    endedSince: sinceText(options["ended-since"]),
    endedBefore: options["ended-before"],
  });
  if (read.ok) return read.value;
  const problems = read.problems.map(({ field, value, expected }) => ({
    field: optionOf[field] ?? field,
    value,
    expected: /since$/i.test(field) ? `a time before now such as 2h, or ${expected}` : expected,
  }));
  return take({ ...read, problems });
}

/** The arguments as ids of tasks. Throws InvalidArgumentError for a name, and where an option is given that only `--all` takes. */
export function readIds(given: GivenWords, onlyWithAll: readonly string[]): string[] {
  refuseGiven(given, onlyWithAll, "it only together with --all");
  const { args } = given;
  const other = args.find((word) => !readTaskId(word).ok);
  if (other === undefined) return [...args];
  const expected = "ids of tasks, or the name of a definition with --all";
  throw refusal("ID|NAME..", other, expected);
}

/** The states of `--state`, of these. Throws InvalidArgumentError for another one. */
export function readStates<State extends ListableState>(
  { lists }: CommandContext,
  known: readonly State[],
  byDefault: readonly State[],
): readonly State[] {
  const given = lists["state"];
  if (given === undefined) return byDefault;
  const other = given.find((state) => !known.some((one) => one === state));
  if (other !== undefined) {
    const note = known.some((state) => state === "claimed") ? `; ${standingsNote}` : "";
    throw refusal("--state", other, `one of ${known.join(", ")}${note}`);
  }
  return known.filter((state) => given.includes(state));
}
