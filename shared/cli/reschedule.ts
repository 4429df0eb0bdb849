import { take } from "../admin/read-result";
import { readTaskId } from "../admin/requests";
import { readRescheduleRequest } from "../admin/task-requests";
import { readDuration } from "../core/duration";
import { limits } from "../core/limits";
import { reasonOption, report } from "./command";
import type { Command } from "./command";
import { exitCodes } from "./exit-codes";
import { refusal } from "./read-values";
import { renderOutcomes } from "./task-results";

/** `taskgate reschedule WHEN ID..` */
export const rescheduleCommand: Command = {
  name: "reschedule",
  group: "change",
  parameters: [
    { name: "WHEN", values: ["now"] },
    { name: "ID", isList: true },
  ],
  options: { reason: reasonOption },
  sentence: "Changes when waiting tasks run.",
  details: [
    "WHEN: now, a time from now such as 90s, 10m or 2h, or an instant with its zone: 2030-01-31T08:30:00Z.",
    "A ready task gives its group's slot to the next one, except in a strict group. Running tasks go on.",
    "Exit code 1: at least one task wasn't rescheduled.",
  ].join("\n"),
  examples: [
    { line: "taskgate reschedule 10m 13 14", sentence: "In 10 minutes." },
    { line: "taskgate reschedule 2030-01-31T08:30:00Z 13", sentence: "At an instant." },
    { line: "taskgate reschedule now 13", sentence: "As soon as the limit allows." },
  ],
  run: async (context) => {
    const [when = "", ...words] = context.args;
    const tasks = words.map((word) => take(readTaskId(word)));
    const request = take(
      readRescheduleRequest({ tasks, reason: context.options["reason"], ...instantOf(when) }),
    );
    const answer = await (
      await context.admin()
    ).reschedule({ ...request, changedBy: context.changedBy });
    report(context, answer, () =>
      renderOutcomes(answer.tasks, {
        rescheduled: ["is rescheduled", "are rescheduled"],
        running: ["runs", "run"],
        blocked: ["waits for its wave", "wait for their waves"],
        busy: ["is on the move, ask again", "are on the move, ask again"],
        gone: ["has ended or never was", "have ended or never were"],
      }),
    );
    const isDone = answer.tasks.every((task) => task.outcome === "rescheduled");
    return isDone ? exitCodes.ok : exitCodes.failed;
  },
};

const looksLikeInstant = /^\d{4}-/;

function instantOf(when: string): { runInMs: number } | { runAt: string } {
  if (when === "now") return { runInMs: 0 };
  if (looksLikeInstant.test(when)) return { runAt: when };
  const runInMs = readDuration(when);
  if (runInMs !== null && runInMs <= limits.runInMsMax) return { runInMs };
  const expected =
    "now, a time from now such as 90s, 10m or 2h, or an instant such as 2030-01-31T08:30:00Z";
  throw refusal("WHEN", when, expected);
}
