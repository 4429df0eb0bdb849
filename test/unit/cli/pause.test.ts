import { expect, test } from "@jest/globals";
import { pauseCommand } from "../../../shared/cli/pause";
import type { CommandContext } from "../../../shared/cli/command";
import { callsDefinition } from "../../../shared/core/calls-definition";

async function pause(definition: string): Promise<string> {
  const lines: string[] = [];
  const admin = { pause: () => Promise.resolve({ definition, status: "paused" }) };
  await pauseCommand.run({
    args: [definition],
    options: {},
    changedBy: "ada",
    isJson: false,
    output: { line: (text: string) => lines.push(text) },
    admin: () => admin,
  } as unknown as CommandContext);
  return lines.join("\n");
}

test("pause of a definition says that nothing new starts", async () => {
  expect(await pause("greet")).toBe(
    "greet is paused: nothing new starts until `taskgate resume greet`.",
  );
});

test("pause of the functions under a limit tells what still runs, and the command that holds that, too", async () => {
  const one = callsDefinition(["partner-api"]);
  expect(await pause(one)).toBe(
    [
      "calls:partner-api is paused: no invocation of its functions runs its handler until `taskgate resume calls:partner-api`.",
      "Messages that become tasks meanwhile run as those: `taskgate limit partner-api 0 --shared` holds them, too.",
    ].join("\n"),
  );
  expect(await pause(callsDefinition(["one", "other"]))).toContain("`taskgate limit NAME 0");
});
