import { take } from "../admin/read-result";
import { readTaskId } from "../admin/requests";
import { readCancelRequest } from "../admin/task-requests";
import { report, yesOption } from "./command";
import type { Command } from "./command";
import { exitCodes } from "./exit-codes";
import { showNumber } from "../terminal/output";
import { renderOutcomes, showIds } from "./task-results";

/** `taskgate cancel ID..` */
export const cancelCommand: Command = {
  name: "cancel",
  group: "change",
  parameters: [{ name: "ID", isList: true }],
  options: {
    yes: yesOption,
    reason: {
      type: "string",
      short: "r",
      valueName: "TEXT",
      sentence: "Why; kept as the error of the cancelled tasks, at most 400 characters.",
    },
  },
  sentence: "Ends waiting tasks and asks running ones to end.",
  details: "Exit code 1: a task is unknown, or locked at this moment; then repeat the command.",
  examples: [{ line: `taskgate cancel 10 12 --reason "ordered twice"`, sentence: "Two tasks." }],
  run: async (context) => {
    const tasks = context.args.map((word) => take(readTaskId(word)));
    const request = take(readCancelRequest({ tasks, reason: context.options["reason"] }));
    const which = `${showNumber(tasks.length, "task", "tasks")} (${showIds(tasks)})`;
    const end = "A waiting task ends for good, a running one is asked to end.";
    if (!(await context.confirm(() => `Cancels ${which}. ${end}`))) return exitCodes.failed;
    const answer = await (
      await context.admin()
    ).cancel({ ...request, changedBy: context.changedBy });
    report(context, answer, () =>
      renderOutcomes(answer.tasks.map(withUnknown), {
        cancelled: ["is cancelled", "are cancelled"],
        requested: ["runs and was asked to end", "run and were asked to end"],
        busy: ["is locked at this moment, ask again", "are locked at this moment, ask again"],
        gone: ["has ended before", "have ended before"],
        unknown: ["is unknown or was removed", "are unknown or were removed"],
      }),
    );
    const isTold = answer.tasks.every(
      ({ outcome, state }) => outcome !== "busy" && state !== "unknown",
    );
    return isTold ? exitCodes.ok : exitCodes.failed;
  },
};

/** A task's outcome; one that there is no more, or never was, is told apart from one that has ended. */
function withUnknown({
  task,
  outcome,
  state,
}: {
  readonly task: string;
  readonly outcome: string;
  readonly state: string | null;
}) {
  return { task, outcome: state === "unknown" ? state : outcome };
}
