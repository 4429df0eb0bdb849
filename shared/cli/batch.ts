import type { BatchReport } from "../admin/batch-actions";
import { readBatchId } from "../admin/batch-requests";
import { invalidInput, take } from "../admin/object-reader";
import { report } from "./command";
import type { Command } from "./command";
import { exitCodes } from "./exit-codes";
import { renderTable, showDuration, showInstant, showNumber } from "./output";
import type { Column } from "./output";

/** `taskgate batch ID` */
export const batchCommand: Command = {
  name: "batch",
  parameters: ["ID"],
  options: {
    resume: { type: "boolean", sentence: "Lets a batch that a dead task halted go on." },
    cancel: { type: "boolean", sentence: "Opens no further wave and ends what hasn't ended." },
  },
  sentence: "A batch with its waves; resumes or cancels it.",
  details: "Running tasks of a cancelled batch are asked to end; those that wait end at once.",
  run: async (context) => {
    const batchId = take(readBatchId(context.args[0]));
    const [isResume, isCancel] = [context.flags.has("resume"), context.flags.has("cancel")];
    if (isResume && isCancel) {
      const expected = "either --resume or --cancel, not both";
      throw invalidInput([{ field: "--cancel", value: "both", expected }]);
    }
    const admin = await context.admin();
    if (isResume) {
      const answer = await admin.resumeBatch(batchId);
      report(context, answer, () => resumed[answer.status]);
    } else if (isCancel) {
      const answer = await admin.cancelBatch(batchId);
      const tasks = showNumber(answer.tasks, "admitted task", "admitted tasks");
      report(context, answer, () =>
        answer.status === "done"
          ? "It had ended before."
          : `Cancelled: ${tasks} ended or asked to end; what was held ends, too.`,
      );
    } else {
      const batch = await admin.batch(batchId);
      report(context, batch, () => describe(batch, context.output.columns));
    }
    return exitCodes.ok;
  },
};

const resumed = {
  resumed: "It goes on with its next wave.",
  again: "It is running or done: there is nothing to resume.",
  draft: "It hasn't been started yet.",
  ended: "It was cancelled.",
} as const;

function describe(batch: BatchReport, width: number | null): string {
  const left =
    batch.estimatedLeftMs === null ? "" : `, about ${showDuration(batch.estimatedLeftMs)} left`;
  const head = `Batch ${batch.batch}, ${batch.name}: ${batch.state}, ${String(batch.ended)} of ${showNumber(batch.tasks, "task", "tasks")} ended${left}. After a dead task: ${batch.failurePolicy}.`;
  return [head, "", renderTable(batch.waves, columns, width)].join("\n");
}

const columns: Column<BatchReport["waves"][number]>[] = [
  { title: "wave", value: (row) => String(row.ordinal), isNumber: true },
  { title: "state", value: (row) => row.state },
  { title: "held", value: (row) => String(row.held), isNumber: true },
  { title: "unfinished", value: (row) => String(row.unfinished), isNumber: true },
  { title: "ended", value: (row) => String(row.admitted - row.unfinished), isNumber: true },
  { title: "dead", value: (row) => String(row.dead), isNumber: true },
  { title: "opened", value: (row) => showInstant(row.openedAt) },
  { title: "finished", value: (row) => showInstant(row.finishedAt) },
];
