import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stampName } from "../platform/build-info";
import { realClock } from "../platform/real-clock";
import { report } from "./command";
import type { Command } from "./command";

/** `taskgate stamp` */
export const stampCommand: Command = {
  name: "stamp",
  group: "deploy",
  worksOn: "this computer",
  parameters: [],
  options: {},
  sentence: "Writes the number of this build beside the app's host.json.",
  details: [
    `Run it in the app's folder at the end of its build; ${stampName} is deployed with the app. The number is the time in`,
    "milliseconds, so it grows with every build. In a rollout an older build then never overwrites a newer one's settings.",
    "TASKGATE_BUILD, where it is set, wins.",
  ].join("\n"),
  examples: [{ line: "taskgate stamp", sentence: `Writes ${stampName}.` }],
  run: async (context) => {
    const build = realClock.nowMs();
    const file = join(context.folder, stampName);
    writeFileSync(file, `${JSON.stringify({ build })}\n`);
    report(context, { build, file }, () => `Build ${String(build)} is written to ${stampName}.`);
  },
};
