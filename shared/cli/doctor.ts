import type { DoctorReport } from "../admin/doctor";
import { report } from "./command";
import type { Command } from "./command";
import { exitCodes } from "./exit-codes";
import { measureLatency } from "./latency";
import { printable } from "../terminal/text-width";
import { plainTheme } from "../terminal/theme";

/** `taskgate doctor` */
export const doctorCommand: Command = {
  name: "doctor",
  group: "deploy",
  parameters: [],
  options: {
    deep: { sentence: "Checks every promise that SQL can see, over the whole database." },
    latency: {
      sentence:
        "Measures the time from an enqueue to its handler (TASKGATE_PROBE): adds five tasks.",
    },
  },
  sentence: "Checks database, schema, queue, leases and definitions.",
  details:
    "Changes nothing without --latency. Exit code 1: at least one check is BROKEN; notes alone are 0.\n--deep reads the whole database in one call, which is waited for up to an hour, or for --timeout.",
  examples: [
    { line: "taskgate doctor", sentence: "Seconds." },
    { line: "taskgate doctor --deep", sentence: "Reads the whole database." },
    { line: "taskgate doctor --latency", sentence: "From an enqueue to its handler, in seconds." },
  ],
  run: async (context) => {
    const admin = context.admin();
    const found = await admin.doctor({ deep: context.flags.has("deep") });
    const measured = context.flags.has("latency")
      ? await measureLatency(admin, context.changedBy)
      : [];
    const isLate = measured.some(({ status }) => status === "broken");
    const diagnosis: DoctorReport = {
      status: isLate ? "broken" : found.status,
      findings: [...found.findings, ...measured],
    };
    const { theme = plainTheme } = context.output;
    const marks = {
      ok: theme.good("ok    "),
      note: theme.accent("note  "),
      broken: theme.bad("BROKEN"),
    };
    report(context, diagnosis, () =>
      diagnosis.findings
        .map((finding) => `${marks[finding.status]}  ${finding.check}: ${printable(finding.text)}`)
        .join("\n"),
    );
    return diagnosis.status === "broken" ? exitCodes.failed : exitCodes.ok;
  },
};
