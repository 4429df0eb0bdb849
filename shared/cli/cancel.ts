import { take } from "../admin/object-reader";
import { readTaskId } from "../admin/requests";
import { readCancelRequest } from "../admin/task-requests";
import { report } from "./command";
import type { Command } from "./command";
import { exitCodes } from "./exit-codes";
import { renderOutcomes } from "./task-results";

/** `taskgate cancel ID..` */
export const cancelCommand: Command = {
  name: "cancel",
  parameters: ["ID.."],
  options: {
    reason: {
      type: "string",
      valueName: "TEXT",
      sentence: "Why: kept as the error of the tasks that end; at most 400 characters.",
    },
  },
  sentence: "Ends tasks that wait; asks those that run to end.",
  details:
    "Exit code 1 when a task is locked at this moment or unknown: ask again, or look at its number.",
  run: async (context) => {
    const tasks = context.args.map((word) => take(readTaskId(word)));
    const request = take(readCancelRequest({ tasks, reason: context.options["reason"] }));
    const answer = await (await context.admin()).cancel(request);
    report(context, answer, () =>
      renderOutcomes(answer.tasks, {
        cancelled: ["is cancelled", "are cancelled"],
        requested: ["runs and was asked to end", "run and were asked to end"],
        busy: ["is locked at this moment, ask again", "are locked at this moment, ask again"],
        gone: ["has ended before or never was", "have ended before or never were"],
      }),
    );
    const isTold = answer.tasks.every(
      ({ outcome, state }) => outcome !== "busy" && state !== "unknown",
    );
    return isTold ? exitCodes.ok : exitCodes.failed;
  },
};
