import { firstLine } from "../core/text";
import type { Column } from "../terminal/output";

/** The first line of an error; its stack is told by `taskgate explain ID` and `--json`. */
export const errorColumn: Column<{ readonly error?: string | null | undefined }> = {
  title: "error",
  value: ({ error }) => firstLine(error ?? ""),
  wraps: true,
  tone: () => "bad",
};
