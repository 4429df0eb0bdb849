import { take } from "../admin/object-reader";
import { readTaskId } from "../admin/requests";
import type { TaskAttempt, TaskFacts } from "../ports/task-store";
import { report } from "./command";
import type { Command } from "./command";
import { exitCodes } from "./exit-codes";
import { oneLine, renderTable, showDuration, showInstant } from "./output";
import type { Column } from "./output";

/** `taskgate explain ID` */
export const explainCommand: Command = {
  name: "explain",
  parameters: ["ID"],
  options: {},
  sentence: "Why a task is running or not, what decides, and its attempts.",
  details:
    "A sentence marked with > decides: without it the task would run now, or it is how the task ended.",
  run: async (context) => {
    const taskId = take(readTaskId(context.args[0]));
    const explanation = await (await context.admin()).explain(taskId);
    report(context, explanation, () => {
      const sentences = explanation.reasons.map(
        (reason) => `${reason.decides ? ">" : " "} ${oneLine(reason.sentence)}`,
      );
      const attempts = renderAttempts(explanation.facts, context.output.columns);
      return [...sentences, ...attempts].join("\n");
    });
    return exitCodes.ok;
  },
};

const columns: readonly Column<TaskAttempt>[] = [
  { title: "finished", value: (row) => showInstant(row.finishedAt) },
  { title: "outcome", value: (row) => row.outcome },
  { title: "took", value: (row) => showDuration(row.durationMs), isNumber: true },
  { title: "fence", value: (row) => row.fence, isNumber: true },
  { title: "worker", value: (row) => row.worker ?? "-" },
  { title: "error", value: (row) => row.error ?? "" },
];

function renderAttempts(facts: TaskFacts | null, width: number | null): string[] {
  if (facts === null || facts.attempts.length === 0) return [];
  return [
    "",
    "Attempts that ended otherwise than done, newest first:",
    renderTable(facts.attempts, columns, width),
  ];
}
