import { writeSync } from "node:fs";
import type { ProcessEnds } from "../ports/process-ends";

/** The end of this process. */
export const processEnds: ProcessEnds = process;

/** A line on standard error that is out before this returns: behind it nothing is written any more. */
export function writeErrorNow(line: string): void {
  writeSync(2, `${line}\n`);
}
