import type { BatchReport } from "../admin/batch-actions";
import { readBatchId } from "../admin/batch-requests";
import { take } from "../admin/read-result";
import { readOperatorRequest } from "../admin/requests";
import { looks } from "../admin/sentences";
import { reasonOption, report, yesOption } from "./command";
import type { Command, CommandContext } from "./command";
import { exitCodes } from "./exit-codes";
import { renderTable, showDuration, showInstant, showNumber } from "../terminal/output";
import type { Column, Screen } from "../terminal/output";
import { followBatch } from "./follow-batch";
import { oneFlagOf, refusal } from "./read-values";

/** `taskgate batch ID` */
export const batchCommand: Command = {
  name: "batch",
  group: "change",
  parameters: [{ name: "ID" }],
  options: {
    resume: { sentence: "Continues a batch that halted at a dead task." },
    yes: yesOption,
    cancel: { sentence: "Opens no further wave and ends all unfinished tasks." },
    follow: { sentence: "Shows its progress until it has ended, or halts." },
    every: {
      valueName: "TIME",
      sentence:
        "Follows, or watches beside --watch, with this time between two looks, 200ms to 1h; default 2s.",
    },
    reason: reasonOption,
  },
  sentence: `${looks.batch}, follows, resumes or cancels it.`,
  details: [
    "Waiting tasks of a cancelled batch end at once; running ones are asked to end, and those of later waves end behind them.",
    "Exit code of --follow: 0 where all tasks ended well; 1 where one is dead, or the batch was halted or cancelled; 130 at Ctrl+C.",
    "With --json each look of --follow is a line.",
  ].join("\n"),
  examples: [
    { line: "taskgate batch 1", sentence: "The waves of a batch." },
    { line: "taskgate batch 2 --follow", sentence: "Until it ends, with a bar." },
    { line: "taskgate batch 2 --watch", sentence: "The waves again every 2 s, until Ctrl+C." },
    { line: "taskgate batch 1 --cancel", sentence: "Ends a batch." },
  ],
  run: async (context) => {
    const batchId = take(readBatchId(context.args[0]));
    const change = take(readOperatorRequest({ reason: context.options["reason"] }));
    const { changedBy } = context;
    const action = oneFlagOf(context.flags, "resume", "cancel");
    if (context.isRepeated === true) refuseWatched(context);
    else if (context.flags.has("follow") || context.options["every"] !== undefined) {
      if (action !== undefined) throw refusal(`--${action}`, "true", "it without --follow");
      return followBatch(context, batchId, (batch) => describe(batch, context.output));
    }
    const admin = context.admin();
    if (action === "resume") {
      const answer = await admin.resumeBatch({ ...change, batchId, changedBy });
      report(context, answer, () => resumed[answer.status]);
      if (answer.status === "draft" || answer.status === "ended") return exitCodes.failed;
    } else if (action === "cancel") {
      const what = async (): Promise<string> => {
        const { name, tasks: all, ended } = await admin.batch(batchId);
        const left = showNumber(all - ended, "unfinished task", "unfinished tasks");
        return `Cancels batch ${batchId} (${name}) for good: ${left} of ${String(all)} end or are asked to end.`;
      };
      if (!(await context.confirm(what))) return exitCodes.failed;
      const answer = await admin.cancelBatch({ ...change, batchId, changedBy });
      const tasks = showNumber(answer.tasks, "admitted task", "admitted tasks");
      report(context, answer, () =>
        answer.status === "done"
          ? "It had ended before."
          : `Cancelled: ${tasks} ended or asked to end; what is blocked ends when the running tasks have ended.`,
      );
    } else {
      const batch = await admin.batch(batchId);
      report(context, batch, () =>
        [describe(batch, context.output), ...nextStep(batch)].join("\n"),
      );
    }
    return exitCodes.ok;
  },
};

/** A change happens once, and --follow has an end of its own: neither goes with --watch. */
function refuseWatched({ flags }: CommandContext): void {
  for (const flag of ["resume", "cancel", "follow"])
    if (flags.has(flag)) throw refusal(`--${flag}`, "true", "it without --watch");
}

const resumed = {
  resumed:
    "It goes on with its next wave; where redriven tasks of the last one run, when these have ended.",
  again: "It is running or done: there is nothing to resume.",
  draft: "It hasn't been started yet.",
  ended: "It was cancelled.",
} as const;

/** What a person does next with a batch that doesn't go on by itself. */
function nextStep({ batch, state }: BatchReport): string[] {
  const line = `taskgate batch ${batch}`;
  if (state === "halted")
    return [
      "",
      `It halts after a dead task: \`${line} --resume\` continues it. To run the dead tasks again first, in their wave: \`taskgate failures --batch ${batch}\` names their definitions, then \`taskgate redrive NAME --all --batch ${batch}\`.`,
    ];
  if (state === "draft")
    return [
      "",
      `It hasn't been started: the code that made it starts it by \`batches.start\`; \`${line} --cancel\` gives it up.`,
    ];
  return [];
}

function describe(batch: BatchReport, screen: Screen): string {
  const left =
    batch.estimatedLeftMs === null ? "" : `, about ${showDuration(batch.estimatedLeftMs)} left`;
  const head = `Batch ${batch.batch}, ${batch.name}: ${batch.state}, ${String(batch.ended)} of ${showNumber(batch.tasks, "task", "tasks")} ended${left}. After a dead task: ${batch.failurePolicy}.`;
  return [head, "", renderTable(batch.waves, columns, screen)].join("\n");
}

const columns: Column<BatchReport["waves"][number]>[] = [
  { title: "wave", value: (row) => String(row.ordinal), isNumber: true },
  { title: "state", value: (row) => row.state },
  { title: "blocked", value: (row) => String(row.blocked), isNumber: true },
  { title: "unfinished", value: (row) => String(row.unfinished), isNumber: true },
  { title: "ended", value: (row) => String(row.admitted - row.unfinished), isNumber: true },
  { title: "dead", value: (row) => String(row.dead), isNumber: true },
  { title: "opened at", value: (row) => showInstant(row.openedAt) },
  { title: "ended at", value: (row) => showInstant(row.endedAt) },
];
