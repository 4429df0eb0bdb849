import { take } from "../admin/read-result";
import { readDefinitionName, readOperatorRequest } from "../admin/requests";
import { acts } from "../admin/sentences";
import { isCallsDefinition, limitOfCalls } from "../core/calls-definition";
import { commandWord } from "../core/command-word";
import { nameParameter, reasonOption, report } from "./command";
import type { Command } from "./command";

/** `taskgate pause NAME` */
export const pauseCommand: Command = {
  name: "pause",
  group: "change",
  parameters: [nameParameter],
  options: { reason: reasonOption },
  sentence: `${acts.pause}.`,
  examples: [
    {
      line: `taskgate pause greet --reason "the partner is down"`,
      sentence: "Until `taskgate resume greet`.",
    },
  ],
  run: async (context) => {
    const definition = take(readDefinitionName(context.args[0]));
    const change = take(readOperatorRequest({ reason: context.options["reason"] }));
    const admin = context.admin();
    const answer = await admin.pause({ ...change, definition, changedBy: context.changedBy });
    report(context, answer, () =>
      answer.status === "exists" ? `${definition} was paused already.` : describePause(definition),
    );
  },
};

function describePause(definition: string): string {
  const end = `until \`taskgate resume ${commandWord(definition)}\``;
  if (!isCallsDefinition(definition)) return `${definition} is paused: nothing new starts ${end}.`;
  const limit = limitOfCalls(definition) ?? "NAME";
  return [
    `${definition} is paused: no invocation of its functions runs its handler ${end}.`,
    `Messages that become tasks meanwhile run as those: \`taskgate limit ${commandWord(limit)} 0 --shared\` holds them, too.`,
  ].join("\n");
}
