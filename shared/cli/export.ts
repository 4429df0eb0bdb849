import type { Admin } from "../admin/create-admin";
import type { ShownFacts } from "../admin/explain-report";
import { listMax, readListing } from "../admin/listing";
import { take } from "../admin/read-result";
import { listableStates, readDefinitionName, readListTasksQuery } from "../admin/requests";
import { TaskgateError } from "../core/errors";
import type { TaskId } from "../core/ids";
import { realClock } from "../platform/real-clock";
import type { ListableState } from "../ports/task-store";
import { progressBar } from "../terminal/bars";
import { createProgressLine } from "../terminal/progress-line";
import { maxOption, nameParameter, report } from "./command";
import type { Command, CommandContext } from "./command";
import { exitCodes } from "./exit-codes";
import { exportedLine, requireShown } from "./exported-task";
import { openLines } from "./open-lines";

/** `taskgate export NAME` */
export const exportCommand: Command = {
  name: "export",
  group: "look",
  parameters: [nameParameter],
  options: {
    state: {
      type: "string",
      short: "s",
      valueName: "STATE",
      isList: true,
      values: listableStates,
      sentence: `One of ${listableStates.join(", ")}; several times for several; default all.`,
    },
    max: maxOption(listMax, listMax),
    to: {
      type: "string",
      valueName: "FILE",
      sentence: "A file that isn't there yet; default: standard output.",
    },
  },
  sentence: "Writes tasks with payload and result, each as a line of JSON.",
  details: [
    "Of each state the tasks that `taskgate tasks` lists, at most 1,000: the next ones, or the newest finished ones.",
    "Exit code 1: a state has more, or a task was removed or on the move meanwhile. Payloads need the same right as `taskgate explain`.",
    "`taskgate enqueue NAME --from FILE` adds the same tasks again: payload, kind, priority, dedupe key, and the group that an unfinished task is in.",
    "Tasks that wait for their wave are in no list. Ctrl+C ends it between two tasks, with exit code 130.",
  ].join("\n"),
  examples: [
    {
      line: "taskgate export greet --state dead",
      sentence: "The failures with their payloads and errors.",
    },
    {
      line: "taskgate export greet --state dead | taskgate enqueue greet --from - --priority 200",
      sentence: "New tasks with the payloads of the failed ones.",
    },
  ],
  run: async (context) => {
    const definition = take(readDefinitionName(context.args[0]));
    const { max = String(listMax), to } = context.options;
    const queries = (context.lists["state"] ?? listableStates).map((state) =>
      take(readListTasksQuery({ state, max })),
    );
    const { interrupted } = context.repeater();
    const admin = await context.admin();
    const isAll = context.options["max"] === undefined;
    const listed = new Set<TaskId>();
    const cut: ListableState[] = [];
    for (const query of queries) {
      const { rows, more } = await readListing({ ...query, definition }, admin.tasks);
      for (const { task } of rows) listed.add(task);
      if (more) cut.push(query.state);
    }
    const output = openLines(to, context.output);
    try {
      const written = await write(context, { admin, ids: [...listed], output, interrupted });
      const left = listed.size - written;
      const isStopped = interrupted?.aborted === true;
      tell(context, { definition, file: to ?? null, tasks: written, left, cut, isStopped });
      if (isStopped) return 130;
      return left > 0 || (isAll && cut.length > 0) ? exitCodes.failed : exitCodes.ok;
    } finally {
      output.close();
    }
  },
};

/** Tasks whose facts are read at a time. */
const readAtOnce = 8;

interface Writing {
  readonly admin: Admin;
  readonly ids: readonly TaskId[];
  readonly output: ReturnType<typeof openLines>;
  readonly interrupted: AbortSignal | undefined;
}

/** Answers how many were written: some may be gone. */
async function write(
  { isJson, output: screen }: CommandContext,
  { admin, ids, output, interrupted }: Writing,
): Promise<number> {
  const progress = createProgressLine(screen, { isJson, monotonicMs: realClock.monotonicMs });
  let written = 0;
  try {
    for (let at = 0; at < ids.length && interrupted?.aborted !== true; at += readAtOnce) {
      const slice = ids.slice(at, at + readAtOnce);
      const found = await Promise.all(slice.map((id) => factsOf(admin, id)));
      // Standard output may be the same terminal: its line must be empty.
      progress.end();
      for (const facts of found) {
        if (facts === null) continue;
        requireShown(facts);
        output.line(exportedLine(facts));
        written += 1;
      }
      const share = Math.min(at + readAtOnce, ids.length) / ids.length;
      if (share < 1 && !isJson) progress.show("export", describeProgress(written, share));
    }
  } finally {
    progress.end();
  }
  return written;
}

/** null: it was removed, or moves all the time. */
async function factsOf(admin: Admin, taskId: TaskId): Promise<ShownFacts | null> {
  try {
    return (await admin.explain(taskId)).facts;
  } catch (error) {
    if (error instanceof TaskgateError && error.code === "TASKGATE_ARG_UNKNOWN") return null;
    throw error;
  }
}

function describeProgress(written: number, share: number): string {
  const percent = `${String(Math.floor(share * 100))} %`.padStart(5);
  return `${progressBar(share, 26)} ${percent}  ${String(written)} ${written === 1 ? "task" : "tasks"}`;
}

interface Exported {
  readonly definition: string;
  readonly file: string | null;
  readonly tasks: number;
  /** Listed, but removed or on the move since. */
  readonly left: number;
  /** States that have more tasks than were listed. */
  readonly cut: readonly ListableState[];
  readonly isStopped: boolean;
}

/** To standard output where that isn't the lines' place; then programs read nothing but lines. */
function tell(context: CommandContext, exported: Exported): void {
  const { definition, file, tasks, left, cut, isStopped } = exported;
  if (context.isJson && file === null) return;
  const count = `${String(tasks)} ${tasks === 1 ? "task" : "tasks"} of ${definition}`;
  const sentences = [
    `${count} ${tasks === 1 ? "is" : "are"} written${file === null ? "" : ` to ${file}`}.`,
    ...(isStopped ? ["Stopped before the end."] : []),
    ...(left > 0 && !isStopped
      ? [`Removed or on the move since they were listed: ${String(left)}.`]
      : []),
    ...(cut.length === 0 ? [] : [`There are more of these states: ${cut.join(", ")}.`]),
  ];
  if (file === null) context.output.error(sentences.join(" "));
  else report(context, exported, () => sentences.join(" "));
}
