import type { Admin } from "../admin/create-admin";
import type { ShownFacts } from "../admin/explain-report";
import { listableStates } from "../core/listable-states";
import { take } from "../admin/read-result";
import { readDefinitionName } from "../admin/requests";
import { TaskgateError } from "../core/errors";
import type { TaskId } from "../core/ids";
import type { ListableState } from "../ports/task-store";
import { shareBar } from "../terminal/bars";
import { showNumber } from "../terminal/output";
import { nameParameter, report } from "./command";
import type { Command, CommandContext } from "./command";
import { exitCodes } from "./exit-codes";
import { countExported, exportedPages } from "./exported-pages";
import type { Exporting } from "./exported-pages";
import { exportedLine, requireShown } from "./exported-task";
import { openLines } from "./open-lines";
import { progressOf } from "./progress-of";
import { readWhole } from "./read-values";
import { listFilters, readErrorFilter, readFilters, stateOption } from "./task-filters";

/** `taskgate export NAME` */
export const exportCommand: Command = {
  name: "export",
  group: "look",
  parameters: [nameParameter],
  options: {
    state: stateOption(
      listableStates,
      `One of ${listableStates.join(", ")}; several times for several; default all.`,
    ),
    ...listFilters,
    max: {
      short: "n",
      valueName: "N",
      sentence: "Of each state at most N, 1..1000000; default all.",
    },
    to: { valueName: "FILE", sentence: "A file that isn't there yet; default: standard output." },
  },
  sentence: "Writes tasks with payload and result, each as a line of JSON.",
  details: [
    "All tasks of each state, in the order in which `taskgate tasks` lists them: the next ones first, of ended ones the newest.",
    "Exit code 1: a task was removed or on the move meanwhile. Payloads need the same right as `taskgate explain`.",
    "`taskgate enqueue NAME --from FILE` adds the same tasks again: payload, kind, priority, dedupe key, the group that an unfinished task is in, and when a scheduled one may start; `--run-in` and `--run-at` name another time.",
    "Tasks that wait for their wave are in no list. Ctrl+C ends it between two tasks, with exit code 130.",
  ].join("\n"),
  examples: [
    {
      line: "taskgate export greet --state dead",
      sentence: "The failures with their payloads and errors.",
    },
    {
      line: "taskgate export greet --state dead --error 'it broke' --ended-since 1d",
      sentence: "The failures of a day with this text in their error.",
    },
    {
      line: "taskgate export greet --state dead | taskgate enqueue greet --from - --priority 200",
      sentence: "New tasks with the payloads of the failed ones.",
    },
  ],
  run: async (context) => {
    const exporting = readExporting(context);
    const { to } = context.options;
    const { interrupted } = context.repeater();
    const admin = context.admin();
    // Before the file is made: the definition may be unknown.
    const [counts] = await admin.definitions(exporting.definition);
    const total = counts === undefined ? null : countExported(counts, exporting);
    const output = openLines(to, context.output);
    try {
      const done = await write(context, { admin, exporting, total, output, interrupted });
      const isStopped = interrupted?.aborted === true;
      tell(context, { ...done, definition: exporting.definition, file: to ?? null, isStopped });
      if (isStopped) return 130;
      return done.left > 0 ? exitCodes.failed : exitCodes.ok;
    } finally {
      output.close();
    }
  },
};

function readExporting(context: CommandContext): Exporting {
  const { args, options, lists } = context;
  const definition = take(readDefinitionName(args[0]));
  const states = lists["state"] ?? listableStates;
  const query = readFilters(context, { state: states.join(","), max: undefined });
  const { max } = options;
  return {
    definition,
    states: query.states ?? listableStates,
    max: max === undefined ? null : readWhole("--max", max, [1, exportMax]),
    query,
    fits: readErrorFilter(context),
  };
}

/** Of each state, where a number is given. */
const exportMax = 1_000_000;

/** Tasks whose facts are read at a time. */
const readAtOnce = 8;

interface Writing {
  readonly admin: Admin;
  readonly exporting: Exporting;
  /** Tasks that there were at the beginning; null: that isn't known. */
  readonly total: number | null;
  readonly output: ReturnType<typeof openLines>;
  readonly interrupted: AbortSignal | undefined;
}

interface Written {
  readonly tasks: number;
  /** Listed, but removed or on the move since. */
  readonly left: number;
  /** States that have more tasks than were asked for. */
  readonly cut: readonly ListableState[];
}

/** Writes page by page, until all are written or Ctrl+C. */
async function write(
  context: CommandContext,
  { admin, exporting, total, output, interrupted }: Writing,
): Promise<Written> {
  const progress = progressOf(context);
  const cut: ListableState[] = [];
  let [tasks, left] = [0, 0];
  try {
    for await (const { state, tasks: listed, isCut } of exportedPages(admin, exporting)) {
      if (isCut) cut.push(state);
      for (let at = 0; at < listed.length; at += readAtOnce) {
        if (interrupted?.aborted === true) return { tasks, left, cut };
        const slice = listed.slice(at, at + readAtOnce);
        const found = await Promise.all(slice.map(({ task }) => factsOf(admin, task)));
        // Standard output may be the same terminal: its line must be empty.
        progress.end();
        for (const [place, facts] of found.entries()) {
          if (facts === null) {
            left += 1;
            continue;
          }
          requireShown(facts);
          output.line(exportedLine(facts, slice[place]?.dueAt));
          tasks += 1;
        }
        if (tasks + left !== total) progress.show("export", describeProgress(tasks, total));
      }
    }
    return { tasks, left, cut };
  } finally {
    progress.end();
  }
}

/** null: it was removed, or moves all the time. */
async function factsOf(admin: Admin, taskId: TaskId): Promise<ShownFacts | null> {
  try {
    return await admin.facts(taskId);
  } catch (error) {
    if (error instanceof TaskgateError && error.code === "TASKGATE_ARG_UNKNOWN") return null;
    throw error;
  }
}

/** The count alone where the whole isn't known. */
function describeProgress(written: number, total: number | null): string {
  const count = showNumber(written, "task", "tasks");
  if (total === null || total === 0) return count;
  return `${shareBar(Math.min(written / total, 0.99))}  ${count}`;
}

interface Exported extends Written {
  readonly definition: string;
  readonly file: string | null;
  readonly isStopped: boolean;
}

/** To standard output where that isn't the lines' place; then programs read nothing but lines. */
function tell(context: CommandContext, exported: Exported): void {
  const { definition, file, tasks, left, cut, isStopped } = exported;
  if (context.isJson && file === null) return;
  const sentences = [
    `${showNumber(tasks, `task of ${definition} is`, `tasks of ${definition} are`)} written${file === null ? "" : ` to ${file}`}.`,
    ...(isStopped ? ["Stopped before the end."] : []),
    ...(left > 0 && !isStopped
      ? [`Removed or on the move since they were listed: ${String(left)}.`]
      : []),
    ...(cut.length === 0 ? [] : [`There are more of these states: ${cut.join(", ")}.`]),
  ];
  if (file === null) context.output.error(sentences.join(" "));
  else report(context, exported, () => sentences.join(" "));
}
