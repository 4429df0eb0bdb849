import { report } from "./command";
import type { Command } from "./command";
import { exitCodes } from "./exit-codes";
import { oneLine } from "../terminal/output";
import { plainTheme } from "../terminal/theme";

/** `taskgate doctor` */
export const doctorCommand: Command = {
  name: "doctor",
  group: "deploy",
  parameters: [],
  options: {
    deep: {
      type: "boolean",
      sentence: "Checks every promise that SQL can see, over the whole database.",
    },
  },
  sentence: "Checks database, schema, queue, leases and definitions.",
  details: "Changes nothing. Exit code 1: at least one check is BROKEN; notes alone are 0.",
  examples: [
    { line: "taskgate doctor", sentence: "Seconds." },
    { line: "taskgate doctor --deep", sentence: "Reads the whole database." },
  ],
  run: async (context) => {
    const admin = await context.admin();
    const diagnosis = await admin.doctor({ deep: context.flags.has("deep") });
    const { theme = plainTheme } = context.output;
    const marks = {
      ok: theme.good("ok    "),
      note: theme.accent("note  "),
      broken: theme.bad("BROKEN"),
    };
    report(context, diagnosis, () =>
      diagnosis.findings
        .map((finding) => `${marks[finding.status]}  ${finding.check}: ${oneLine(finding.text)}`)
        .join("\n"),
    );
    return diagnosis.status === "broken" ? exitCodes.failed : exitCodes.ok;
  },
};
