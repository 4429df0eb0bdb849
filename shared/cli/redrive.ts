import { invalidInput, take } from "../admin/object-reader";
import { readTaskId } from "../admin/requests";
import { readRedriveRequest } from "../admin/task-requests";
import { report } from "./command";
import type { Command } from "./command";
import { exitCodes } from "./exit-codes";
import { renderOutcomes } from "./task-results";

/** `taskgate redrive ID..`, `taskgate redrive --definition NAME` */
export const redriveCommand: Command = {
  name: "redrive",
  parameters: ["ID.."],
  isListOptional: true,
  options: {
    definition: {
      type: "string",
      valueName: "NAME",
      sentence: "In place of ids: the oldest of this definition that ended so.",
    },
    kind: { type: "string", valueName: "NAME", sentence: "Only those of one handler." },
    outcome: {
      type: "string",
      valueName: "OUTCOME",
      sentence: "dead or cancelled; default dead.",
    },
    most: { type: "string", valueName: "N", sentence: "At most so many, 1..1000; default 1000." },
  },
  sentence: "Dead letters and cancelled tasks become tasks again, with the same numbers.",
  details: [
    "Their counters begin at 0, their earlier attempts are kept; a group's tasks queue up again.",
    "A task whose dedupe key another one holds now stays where it is. Exit code 1 when one wasn't redriven.",
  ].join("\n"),
  run: async (context) => {
    const { definition, kind, outcome, most } = context.options;
    if (context.args.length === 0 && definition === undefined) {
      const expected = "ids of tasks, or --definition NAME";
      throw invalidInput([{ field: "ID..", value: "nothing", expected }]);
    }
    const ids = context.args.map((word) => take(readTaskId(word)));
    const request = take(
      readRedriveRequest({
        ...(ids.length === 0 ? {} : { tasks: ids }),
        definition,
        kind,
        outcome,
        most: most !== undefined && /^\d{1,15}$/.test(most) ? Number(most) : most,
      }),
    );
    const answer = await (await context.admin()).redrive(request);
    report(context, answer, () =>
      renderOutcomes(answer.tasks, {
        redriven: ["is a task again", "are tasks again"],
        duplicate: ["stays: another one holds its key", "stay: others hold their keys"],
        busy: ["is locked at this moment, ask again", "are locked at this moment, ask again"],
        unfinished: ["hasn't ended", "haven't ended"],
        done: ["ended well", "ended well"],
        unknown: ["is unknown", "are unknown"],
      }),
    );
    const isDone = answer.tasks.every((task) => task.outcome === "redriven");
    return isDone ? exitCodes.ok : exitCodes.failed;
  },
};
