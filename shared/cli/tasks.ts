import { readListing } from "../admin/listing";
import { take } from "../admin/read-result";
import { listableStates, readDefinitionName, readListTasksQuery } from "../admin/requests";
import type { ListableState, TaskListEntry } from "../ports/task-store";
import { maxOption, nameParameter, report } from "./command";
import type { Command } from "./command";
import { exitCodes } from "./exit-codes";
import { readOldest, renderOldest } from "./oldest-tasks";
import { refusal } from "./read-values";
import { describeCut, renderTable, showInstant } from "../terminal/output";
import type { Column } from "../terminal/output";

/** `taskgate tasks NAME` */
export const tasksCommand: Command = {
  name: "tasks",
  group: "look",
  parameters: [nameParameter],
  options: {
    state: {
      type: "string",
      short: "s",
      valueName: "STATE",
      values: listableStates,
      sentence: `One of ${listableStates.join(", ")}; default ready.`,
    },
    oldest: {
      type: "boolean",
      sentence: "The ready tasks that have waited longest, with their age.",
    },
    max: maxOption(),
  },
  sentence: "Lists the tasks of a definition that are in one state.",
  details: [
    "Unfinished tasks stand in the order in which they will start, finished ones newest first.",
    "--oldest compares the ages of up to 1,000 ready tasks: those that start next, and the oldest one at the head of a priority.",
  ].join("\n"),
  examples: [
    { line: "taskgate tasks greet", sentence: "The tasks that start next." },
    {
      line: "taskgate tasks greet --state dead -n 10",
      sentence: "The last 10 failures, with their errors.",
    },
    { line: "taskgate tasks greet --oldest -n 5", sentence: "The 5 that have waited longest." },
  ],
  run: async (context) => {
    const definition = take(readDefinitionName(context.args[0]));
    const { state, max } = context.options;
    const query = take(readListTasksQuery({ state, max }));
    const admin = await context.admin();
    if (context.flags.has("oldest")) {
      if (state !== undefined && state !== "ready")
        throw refusal("--state", state, "ready, or nothing, together with --oldest");
      const oldest = await readOldest(admin, definition, query.max);
      report(context, oldest, () =>
        oldest.tasks.length === 0
          ? `No task of ${definition} is ready.`
          : renderOldest(oldest, context.output),
      );
      return exitCodes.ok;
    }
    const { rows: tasks, more } = await readListing({ ...query, definition }, admin.tasks);
    report(context, { tasks, more }, () =>
      tasks.length === 0
        ? `No task of ${definition} is ${query.state}.`
        : renderTable(tasks, columnsOf(query.state), context.output) +
          describeCut({ rows: tasks, more }),
    );
    return exitCodes.ok;
  },
};

function columnsOf(state: ListableState): Column<TaskListEntry>[] {
  const isFinished = state === "done" || state === "dead" || state === "cancelled";
  const columns: Column<TaskListEntry>[] = [
    { title: "task", value: (row) => row.task, isNumber: true },
    { title: "kind", value: (row) => row.kind },
    { title: "priority", value: (row) => String(row.priority), isNumber: true, isSpare: true },
    { title: "created", value: (row) => showInstant(row.createdAt), isSpare: isFinished },
    { title: "failed", value: (row) => String(row.failedCount), isNumber: true },
    { title: "lost", value: (row) => String(row.lostCount), isNumber: true },
  ];
  if (state === "scheduled") columns.push({ title: "due", value: (row) => showInstant(row.dueAt) });
  if (isFinished) columns.push({ title: "finished", value: (row) => showInstant(row.finishedAt) });
  if (state === "claimed") {
    columns.push({ title: "state", value: (row) => row.state });
    columns.push({ title: "claimed", value: (row) => showInstant(row.claimedAt) });
  }
  if (isFinished || state === "claimed")
    columns.push({ title: "worker", value: (row) => row.worker ?? "-", isSpare: true });
  columns.push({ title: "error", value: (row) => row.error ?? "", wraps: true, tone: () => "bad" });
  return columns;
}
