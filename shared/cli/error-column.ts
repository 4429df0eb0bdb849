import { firstLine } from "../core/text";
import type { Column } from "../terminal/output";

/** In a list of tasks: the first line of the last error. `taskgate explain ID` and `--json` tell the stack. */
export const errorColumn: Column<{ readonly error?: string | null | undefined }> = {
  title: "error",
  value: ({ error }) => firstLine(error ?? ""),
  wraps: true,
  tone: () => "bad",
};
