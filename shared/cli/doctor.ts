import { report } from "./command";
import type { Command } from "./command";
import { exitCodes } from "./exit-codes";
import { oneLine } from "./output";

/** `taskgate doctor` */
export const doctorCommand: Command = {
  name: "doctor",
  parameters: [],
  options: {
    deep: {
      type: "boolean",
      sentence: "Checks every promise that SQL can see, over the whole database.",
    },
  },
  sentence: "Looks for what is wrong: database, queue, leases, definitions.",
  details: "Changes nothing. Ends with 1 when something is broken; notes alone are 0.",
  run: async (context) => {
    const admin = await context.admin();
    const diagnosis = await admin.doctor({ deep: context.flags.has("deep") });
    const marks = { ok: "ok    ", note: "note  ", broken: "BROKEN" } as const;
    report(context, diagnosis, () =>
      diagnosis.findings
        .map((finding) => `${marks[finding.status]}  ${finding.check}: ${oneLine(finding.text)}`)
        .join("\n"),
    );
    return diagnosis.status === "broken" ? exitCodes.failed : exitCodes.ok;
  },
};
