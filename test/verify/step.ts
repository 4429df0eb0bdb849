import { stripVTControlCharacters } from "node:util";
import type { StepRow } from "./result";
import type { Workplace } from "./workplace";

/** What a step works with. */
export interface StepContext {
  readonly place: Workplace;
  /** Aborted when the user presses Ctrl-C. */
  readonly signal: AbortSignal;
  /** On the process's own clock: what isn't done by then is told as incomplete. */
  readonly endsAtMs: number;
  /** Tells people about the progress. */
  say(what: string): void;
}

/** One part of the acceptance pack. */
export interface VerifyStep {
  readonly name: string;
  /** Of the whole time, 0 to 1. */
  readonly share: number;
  /** Its rows say nothing about SQL Server when our own endpoint stands in. */
  readonly meansNothingSimulated: boolean;
  run(context: StepContext): Promise<StepRow[]>;
}

/** Product calls need a login of their own with no more than a shipped role. */
export const noLogins =
  "the login may not make others (ALTER ANY LOGIN; on Azure SQL ALTER ANY USER)";

/** Is there no time left, or was the wait given up? */
export function isOver(context: StepContext): boolean {
  return context.signal.aborted || performance.now() >= context.endsAtMs;
}

/** One row for things of which each passes or fails. */
export function rowOf(
  what: string,
  counts: { readonly all: number; readonly passed: number; readonly failures: readonly string[] },
  remark = "",
): StepRow {
  const { all, passed, failures } = counts;
  const done = passed + failures.length;
  const status = failures.length > 0 ? "failed" : done < all ? "incomplete" : "passed";
  const missing = done < all ? `, ${String(all - done)} not reached` : "";
  const failed = failures.length > 0 ? `, ${String(failures.length)} failed` : "";
  return {
    what,
    status,
    summary: `${String(passed)} of ${String(all)} passed${failed}${missing}${remark}`,
    details: failures,
  };
}

/** An error in the words of a report, without the colours of an assertion. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return stripVTControlCharacters(error.message);
}
