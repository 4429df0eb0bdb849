import { readListing } from "../admin/listing";
import { take } from "../admin/read-result";
import { listableStates, readDefinitionName, readListTasksQuery } from "../admin/requests";
import type { ListableState, TaskListEntry } from "../ports/task-store";
import { maxOption, nameParameter, report } from "./command";
import type { Command } from "./command";
import { exitCodes } from "./exit-codes";
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
    max: maxOption(),
  },
  sentence: "Lists the tasks of a definition that are in one state.",
  details:
    "Unfinished tasks stand in the order in which they will start, finished ones newest first.",
  examples: [
    { line: "taskgate tasks greet", sentence: "The tasks that start next." },
    {
      line: "taskgate tasks greet --state dead -n 10",
      sentence: "The last 10 failures, with their errors.",
    },
  ],
  run: async (context) => {
    const definition = take(readDefinitionName(context.args[0]));
    const { state, max } = context.options;
    const query = take(readListTasksQuery({ state, max }));
    const admin = await context.admin();
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
