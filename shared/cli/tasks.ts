import { readListing } from "../admin/listing";
import { take } from "../admin/object-reader";
import { listableStates, readDefinitionName, readListTasksQuery } from "../admin/requests";
import type { ListableState, TaskListEntry } from "../ports/task-store";
import { report } from "./command";
import type { Command } from "./command";
import { exitCodes } from "./exit-codes";
import { describeCut, renderTable, showInstant } from "./output";
import type { Column } from "./output";

/** `taskgate tasks NAME` */
export const tasksCommand: Command = {
  name: "tasks",
  parameters: ["NAME"],
  options: {
    state: {
      type: "string",
      valueName: "STATE",
      sentence: `${listableStates.join(", ")}; default ready.`,
    },
    most: { type: "string", valueName: "N", sentence: "At most so many, 1..1000; default 100." },
  },
  sentence:
    "Tasks of a definition in one state, in the order they will be taken; finished ones newest first.",
  run: async (context) => {
    const definition = take(readDefinitionName(context.args[0]));
    const { state, most } = context.options;
    const query = take(readListTasksQuery({ state, most }));
    const admin = await context.admin();
    const { rows: tasks, more } = await readListing({ ...query, definition }, admin.tasks);
    report(context, { tasks, more }, () =>
      tasks.length === 0
        ? `No task of ${definition} is ${query.state}.`
        : renderTable(tasks, columnsOf(query.state), context.output.columns) +
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
    { title: "priority", value: (row) => String(row.priority), isNumber: true },
    { title: "created", value: (row) => showInstant(row.createdAt) },
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
    columns.push({ title: "worker", value: (row) => row.worker ?? "-" });
  columns.push({ title: "error", value: (row) => row.error ?? "" });
  return columns;
}
