import { realClock } from "../platform/real-clock";
import { createProgressLine } from "../terminal/progress-line";
import type { ProgressLine } from "../terminal/progress-line";
import type { CommandContext } from "./command";

/** How far a command is, for people: with --json nothing is shown. */
export function progressOf({ isJson, output }: CommandContext): ProgressLine {
  if (isJson) return { show: () => undefined, end: () => undefined };
  return createProgressLine(output, { isJson, monotonicMs: realClock.monotonicMs });
}
