import { take } from "../admin/object-reader";
import { readTaskId } from "../admin/requests";
import { readRescheduleRequest } from "../admin/task-requests";
import { report } from "./command";
import type { Command } from "./command";
import { exitCodes } from "./exit-codes";
import { renderOutcomes } from "./task-results";

/** `taskgate reschedule WHEN ID..` */
export const rescheduleCommand: Command = {
  name: "reschedule",
  parameters: ["WHEN", "ID.."],
  options: {},
  sentence: "Gives tasks that wait another instant.",
  details: [
    "WHEN: now, milliseconds from now, or an instant with its zone, such as 2026-01-31T08:30:00Z.",
    "A ready task gives its group's slot to the next one, except in a strict group. What runs goes on.",
    "Exit code 1 when a task wasn't rescheduled.",
  ].join("\n"),
  run: async (context) => {
    const [when = "", ...words] = context.args;
    const tasks = words.map((word) => take(readTaskId(word)));
    const request = take(readRescheduleRequest({ tasks, ...instantOf(when) }));
    const answer = await (await context.admin()).reschedule(request);
    report(context, answer, () =>
      renderOutcomes(answer.tasks, {
        rescheduled: ["is rescheduled", "are rescheduled"],
        running: ["runs", "run"],
        held: ["waits for its wave", "wait for their waves"],
        busy: ["is on the move, ask again", "are on the move, ask again"],
        gone: ["has ended or never was", "have ended or never were"],
      }),
    );
    const isDone = answer.tasks.every((task) => task.outcome === "rescheduled");
    return isDone ? exitCodes.ok : exitCodes.failed;
  },
};

function instantOf(when: string): { runInMs: number } | { runAt: string } {
  if (when === "now") return { runInMs: 0 };
  return /^\d{1,15}$/.test(when) ? { runInMs: Number(when) } : { runAt: when };
}
