import { take } from "../admin/read-result";
import { readTaskId } from "../admin/requests";
import { readRedriveRequest } from "../admin/task-requests";
import { maxOption, reasonOption, report, yesOption } from "./command";
import type { Command, CommandContext } from "./command";
import { exitCodes } from "./exit-codes";
import type { CommandExitCode } from "./exit-codes";
import type { RedriveFailuresReport } from "../admin/failure-actions";
import { readRedriveFailuresRequest } from "../admin/failure-requests";
import { showNumber } from "../terminal/output";
import { numberOf, refusal } from "./read-values";
import { renderOutcomes } from "./task-results";

/** `taskgate redrive ID..`, `taskgate redrive NAME --all` */
export const redriveCommand: Command = {
  name: "redrive",
  group: "change",
  parameters: [{ name: "ID|NAME", isList: true, values: "definitions" }],
  options: {
    yes: yesOption,
    all: {
      type: "boolean",
      short: "a",
      sentence: "The oldest dead or cancelled tasks of the definition NAME, in place of ids.",
    },
    kind: { type: "string", valueName: "NAME", sentence: "With --all: only tasks of one handler." },
    like: {
      type: "string",
      valueName: "TEXT",
      sentence: "With --all: only dead tasks of this error, as `taskgate failures` shows it.",
    },
    outcome: {
      type: "string",
      valueName: "OUTCOME",
      values: ["dead", "cancelled"],
      sentence: "With --all: dead or cancelled; default dead.",
    },
    max: maxOption(1_000, 1_000),
    reason: reasonOption,
  },
  sentence: "Retries dead or cancelled tasks; their ids stay.",
  details: [
    "Attempts are counted from 0 again; earlier attempts are kept. A task of a group joins its group again.",
    "A task stays dead while another task has its dedupe key. Exit code 1: at least one task stays.",
  ].join("\n"),
  examples: [
    { line: "taskgate redrive 17", sentence: "One task." },
    {
      line: `taskgate redrive greet --all --like "Error: it broke"`,
      sentence: "The dead tasks of one error.",
    },
    { line: "taskgate redrive greet --all", sentence: "All dead tasks of a definition." },
    {
      line: "taskgate redrive greet --all --outcome cancelled -n 50",
      sentence: "The 50 oldest cancelled ones.",
    },
  ],
  run: async (context) => {
    const { kind, like, outcome, max, reason } = context.options;
    const { changedBy } = context;
    if (like !== undefined) return redriveLike(context, like);
    const request = take(
      readRedriveRequest({ ...readWhich(context), kind, outcome, max: numberOf(max), reason }),
    );
    if ("name" in request) {
      const { name, max: count, outcome: which } = request;
      const what = (): string =>
        `Retries up to ${String(count)} ${which} tasks of ${name}, the oldest first.`;
      if (!(await context.confirm(what))) return exitCodes.failed;
    }
    const answer = await (await context.admin()).redrive({ ...request, changedBy });
    report(context, answer, () =>
      renderOutcomes(answer.tasks, {
        redriven: ["will run again", "will run again"],
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

/** The dead tasks of one error; of all kinds that have it, where none is named. */
async function redriveLike(context: CommandContext, like: string): Promise<CommandExitCode> {
  const { kind, outcome, max, reason } = context.options;
  for (const [name, given] of Object.entries({ outcome, max }))
    if (given !== undefined) throw refusal(`--${name}`, given, "nothing together with --like");
  const which = readWhich(context);
  if (!("definition" in which)) throw refusal("--like", like, "it only together with --all");
  const { definition } = which;
  const admin = await context.admin();
  const { groups } = await admin.failures({ definition, max: 1_000 });
  const asked = groups.filter(
    (group) => group.like === like && (kind === undefined || group.kind === kind),
  );
  const count = asked.reduce((sum, group) => sum + group.count, 0);
  if (count > 0 && !(await context.confirm(() => `Retries ${showNumber(count, "task", "tasks")}.`)))
    return exitCodes.failed;
  const total = { found: 0, redriven: 0, left: 0 };
  for (const group of asked) {
    const request = take(
      readRedriveFailuresRequest({ definition, kind: group.kind, like, reason }),
    );
    const done = await admin.redriveFailures({ ...request, changedBy: context.changedBy });
    total.found += done.found;
    total.redriven += done.redriven;
    total.left += done.left;
  }
  report(context, total, () => describeLike(definition, total));
  return total.found > 0 && total.left === 0 ? exitCodes.ok : exitCodes.failed;
}

function describeLike(
  definition: string,
  { found, redriven, left }: RedriveFailuresReport,
): string {
  if (found === 0)
    return `No dead task of ${definition} has this error: see \`taskgate failures\`.`;
  const rest = left === 0 ? "" : `; ${showNumber(left, "stays", "stay")} dead`;
  return `${showNumber(redriven, "dead task will", "dead tasks will")} run again${rest}.`;
}

/** Ids of tasks, or the definition of `--all`. */
function readWhich({
  args,
  flags,
  options,
}: CommandContext): { tasks: string[] } | { definition: string } {
  const [first = "", second] = args;
  if (flags.has("all")) {
    if (second === undefined) return { definition: first };
    throw refusal("argument", second, "one definition: `taskgate redrive NAME --all`");
  }
  for (const option of ["kind", "like", "outcome", "max"]) {
    const given = options[option];
    if (given !== undefined) throw refusal(`--${option}`, given, "it only together with --all");
  }
  const name = args.find((word) => !readTaskId(word).ok);
  if (name === undefined) return { tasks: [...args] };
  const expected = "ids of tasks, or the name of a definition with --all";
  throw refusal("ID|NAME..", name, expected);
}
