import { readOwnerRequest } from "../admin/app-requests";
import { take } from "../admin/read-result";
import { readDefinitionName } from "../admin/requests";
import { showsOrSets } from "../admin/sentences";
import { nameParameter, reasonOption, report, yesOption } from "./command";
import type { Command, CommandContext } from "./command";
import { exitCodes } from "./exit-codes";
import type { ExitCode } from "./exit-codes";
import { refusal, refuseGiven } from "./read-values";

/** `taskgate owner NAME [APP]` */
export const ownerCommand: Command = {
  name: "owner",
  group: "change",
  parameters: [nameParameter, { name: "APP", isOptional: true }],
  options: {
    release: { sentence: "No app owns the definition, until one registers it." },
    yes: yesOption,
    reason: reasonOption,
  },
  sentence: `${showsOrSets.owner}.`,
  details: [
    "A definition belongs to the first app that registers it; another app that has a task of this name is refused.",
    "APP: the name that the other app gives itself. Both apps follow within a minute.",
  ].join("\n"),
  examples: [
    { line: "taskgate owner greet", sentence: "The app." },
    { line: "taskgate owner greet billing", sentence: "Hands greet over to the app billing." },
    { line: "taskgate owner greet --release", sentence: "The next app that has greet gets it." },
  ],
  run: async (context) => {
    const definition = take(readDefinitionName(context.args[0]));
    const { reason } = context.options;
    const given = context.args[1];
    const isReleased = context.flags.has("release");
    if (given === undefined && !isReleased) return show(context, definition);
    if (given !== undefined && isReleased)
      throw refusal("APP", given, "no app together with --release");
    const change = take(readOwnerRequest({ app: given ?? null, reason }));
    const admin = context.admin();
    if (given !== undefined && !(await isMeant(context, definition, given)))
      return exitCodes.failed;
    const answer = await admin.setOwner({ ...change, definition, changedBy: context.changedBy });
    report(context, answer, () => {
      const was =
        answer.status === "exists"
          ? "as before"
          : `it ${answer.oldApp === null ? "belonged to no app" : `was ${answer.oldApp}'s`}`;
      return answer.newApp === null
        ? `${definition} belongs to no app, ${was}.`
        : `${definition} belongs to ${answer.newApp}, ${was}.`;
    });
    return exitCodes.ok;
  },
};

/** Asks where another app loses the definition: its workers stop. */
async function isMeant(context: CommandContext, name: string, app: string): Promise<boolean> {
  const [now] = await context.admin().definitions(name);
  const owner = now?.app ?? app;
  if (owner === app) return true;
  return context.confirm(
    () => `Hands ${name} over to ${app}: workers of ${owner} start none of its tasks any more.`,
  );
}

async function show(context: CommandContext, name: string): Promise<ExitCode> {
  refuseGiven(context, ["reason"], "it only together with an APP");
  const [found] = await context.admin().definitions(name);
  if (found === undefined) return exitCodes.notFound;
  const { app } = found;
  report(context, { definition: name, app }, () =>
    app === null ? `${name} belongs to no app.` : `${name} belongs to ${app}.`,
  );
  return exitCodes.ok;
}
