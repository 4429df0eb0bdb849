import { take } from "../admin/read-result";
import { readOperatorRequest } from "../admin/requests";
import { acts } from "../admin/sentences";
import type { StopReport } from "../admin/stop-actions";
import { reasonOption, report, yesOption } from "./command";
import type { Command } from "./command";
import { exitCodes } from "./exit-codes";
import { refusal } from "./read-values";
import { showNumber } from "../terminal/output";

/** `taskgate stop --all` */
export const stopCommand: Command = {
  name: "stop",
  group: "change",
  parameters: [],
  options: {
    all: { short: "a", sentence: "Required: all definitions and schedules." },
    reason: reasonOption,
    yes: yesOption,
  },
  sentence: `${acts.stop}.`,
  details: [
    "`taskgate resume --all` resumes exactly these; a definition that was paused before stays paused.",
    "Definitions and schedules that are registered until then are paused as well. Exit code 1: one was locked for too long, repeat the command.",
  ].join("\n"),
  examples: [
    {
      line: `taskgate stop --all --reason "the database is being moved"`,
      sentence: "Until `taskgate resume --all`.",
    },
  ],
  run: async (context) => {
    const admin = context.admin();
    if (!context.flags.has("all")) {
      const expected =
        "the option, as everything stops; `taskgate pause NAME` pauses one definition";
      throw refusal("--all", "nothing", expected);
    }
    const change = take(readOperatorRequest({ reason: context.options["reason"] }));
    const what = async (): Promise<string> => {
      const { totals } = await admin.status();
      const definitions = showNumber(totals.definitions, "definition", "definitions");
      const running = showNumber(totals.running, "running task", "running tasks");
      return `Pauses ${definitions} and all schedules; ${running} may finish.`;
    };
    if (!(await context.confirm(what))) return exitCodes.failed;
    const answer = await admin.stopAll({ ...change, changedBy: context.changedBy });
    report(context, answer, () =>
      describeStop(answer, {
        done: "stopped",
        none: "Nothing was to be stopped: all was paused already. What is registered until `taskgate resume --all` is paused as well.",
        next: "`taskgate resume --all` resumes exactly these, and those that are registered until then.",
      }),
    );
    return answer.left.length === 0 ? exitCodes.ok : exitCodes.failed;
  },
};

/** Stopped or resumed definitions and schedules, and those that were locked. */
export function describeStop(
  { definitions, schedules, left }: StopReport,
  words: { readonly done: string; readonly none: string; readonly next: string },
): string {
  const lines: string[] = [];
  if (definitions.length + schedules.length === 0 && left.length === 0) return words.none;
  const counts = [
    showNumber(definitions.length, "definition", "definitions"),
    showNumber(schedules.length, "schedule", "schedules"),
  ];
  lines.push(`${counts.join(" and ")} ${words.done}.`);
  if (definitions.length > 0) lines.push(`  ${definitions.join(", ")}`);
  if (schedules.length > 0)
    lines.push(`  ${schedules.map(({ definition, name }) => `${definition} ${name}`).join(", ")}`);
  if (left.length > 0)
    lines.push(`Locked for too long: ${left.join(", ")}. Repeat the command until none is left.`);
  if (words.next !== "") lines.push(words.next);
  return lines.join("\n");
}
