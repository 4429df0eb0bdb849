import type { Admin } from "../admin/create-admin";
import { report } from "./command";
import type { Command } from "./command";
import { bashScript, zshScript } from "./completion-scripts";
import { readWord } from "./read-values";
import { printable } from "../terminal/text-width";

const whats = ["bash", "zsh", "names"] as const;
/** Names that the shell offers. */
const namesMax = 1_000;

/** `taskgate completion SHELL`, made from the tables of all commands. */
export function createCompletionCommand(commands: () => readonly Command[]): Command {
  return {
    name: "completion",
    group: "develop",
    parameters: [{ name: "SHELL", values: whats }],
    options: {},
    sentence: "Prints a script that completes commands in bash or zsh.",
    details: [
      "The script completes commands, options, their fixed values, and names of definitions, behind `taskgate` and behind `npx taskgate`. Completion of other words behind `npx` stays as it is.",
      "In bash: `npx taskgate completion bash > ~/.taskgate-completion.bash`, and the line `source ~/.taskgate-completion.bash` in ~/.bashrc.",
      "In zsh: `npx taskgate completion zsh > ~/.taskgate-completion.zsh`, and `source ~/.taskgate-completion.zsh` in ~/.zshrc, behind compinit.",
      "`taskgate completion names` prints the names of definitions; the script calls it. Behind `npx` it calls the program of the current folder's app, and installs nothing.",
    ].join("\n"),
    examples: [
      {
        line: "taskgate completion bash",
        sentence: "The script for bash.",
      },
      {
        line: "taskgate completion zsh",
        sentence: "The script for zsh.",
      },
    ],
    run: async (context) => {
      const expected = "bash, zsh or names";
      const what = readWord("SHELL", context.args[0] ?? "", { words: whats, expected });
      if (what === "names") {
        const names = await namesOf(context.admin());
        report(context, { names }, () => names.join("\n"));
        return;
      }
      const script = what === "bash" ? bashScript(commands()) : zshScript(commands());
      report(context, { script }, () => script);
    },
  };
}

/** A name a line. One with control characters can't be typed. */
async function namesOf(admin: Admin): Promise<string[]> {
  const definitions = await admin.definitions();
  const names = definitions.map(({ name }) => name).filter((name) => printable(name) === name);
  return names.slice(0, namesMax);
}
