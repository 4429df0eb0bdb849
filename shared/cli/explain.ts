import { take } from "../admin/read-result";
import { readTaskId } from "../admin/requests";
import { looks } from "../admin/sentences";
import type { TaskAttempt, TaskFacts } from "../ports/task-store";
import { report } from "./command";
import type { Command } from "./command";
import { errorColumn } from "./error-column";
import { renderTable, showDuration, showInstant } from "../terminal/output";
import type { Column, Screen } from "../terminal/output";
import { printable } from "../terminal/text-width";
import { plainTheme } from "../terminal/theme";

/** `taskgate explain ID` */
export const explainCommand: Command = {
  name: "explain",
  group: "look",
  parameters: [{ name: "ID" }],
  options: {},
  sentence: `${looks.explain}.`,
  details: [
    "The sentence marked with > is the reason. Failed attempts follow, newest first, and the newest error with its stack; --json has them all.",
    "Trace: the W3C traceparent that the task was enqueued with; its second part is the trace's id. Where TASKGATE_TRACE_URL is set the address of its page follows.",
  ].join("\n"),
  examples: [{ line: "taskgate explain 17", sentence: "Why doesn't task 17 run?" }],
  run: async (context) => {
    const taskId = take(readTaskId(context.args[0]));
    const explanation = await context.admin().explain(taskId);
    report(context, explanation, () => {
      const { theme = plainTheme } = context.output;
      const sentences = explanation.reasons.map(({ decides, sentence }) =>
        decides ? theme.strong(`> ${printable(sentence)}`) : `  ${printable(sentence)}`,
      );
      const trace = explanation.facts?.traceParent ?? null;
      const traced = trace === null ? [] : ["", `Trace: ${printable(trace)}`];
      if (explanation.traceUrl !== undefined) traced.push(printable(explanation.traceUrl));
      const attempts = renderAttempts(explanation.facts, context.output);
      return [...sentences, ...traced, ...attempts].join("\n");
    });
  },
};

const columns: readonly Column<TaskAttempt>[] = [
  { title: "ended", value: (row) => showInstant(row.endedAt) },
  { title: "outcome", value: (row) => row.outcome },
  { title: "took", value: (row) => showDuration(row.durationMs), isNumber: true },
  { title: "fence", value: (row) => row.fence, isNumber: true, isSpare: true },
  { title: "worker", value: (row) => row.worker ?? "-" },
  errorColumn,
];

function renderAttempts(facts: TaskFacts | null, screen: Screen): string[] {
  if (facts === null || facts.attempts.length === 0) return [];
  return [
    "",
    "Attempts that ended otherwise than done, newest first:",
    renderTable(facts.attempts, columns, screen),
    ...renderStack(facts.attempts[0]?.error ?? ""),
  ];
}

/** The newest error with its causes and stacks, where it has more than one line. */
function renderStack(error: string): string[] {
  const lines = error.split("\n");
  if (lines.length === 1) return [];
  return ["", "The newest error:", ...lines.map((line) => `  ${printable(line).trimEnd()}`)];
}
