import type { Output } from "./output";

/** A program that reads lines wants one now and then, not one a second. */
const plainEveryMs = 30_000;

/** The current activity, on standard error: one line that changes on a terminal, lines now and then elsewhere. */
export interface ProgressLine {
  /** `what` stays the same while only figures in `text` change. */
  show(what: string, text: string): void;
  /** Leaves the terminal's line empty for the next output; elsewhere it changes nothing. */
  end(): void;
}

/** With `isJson` each line is a JSON document of its own. */
export function createProgressLine(
  output: Output,
  options: { isJson: boolean; monotonicMs: () => number },
): ProgressLine {
  const { isJson, monotonicMs } = options;
  const rewrite = isJson ? undefined : output.rewrite;
  let shown: { what: string; atMs: number } | null = null;
  return {
    show: (what, text) => {
      if (rewrite !== undefined) {
        rewrite(text);
        shown = { what, atMs: 0 };
        return;
      }
      const now = monotonicMs();
      if (shown?.what === what && now - shown.atMs < plainEveryMs) return;
      shown = { what, atMs: now };
      output.error(isJson ? JSON.stringify({ progress: text }) : text);
    },
    end: () => {
      if (rewrite === undefined || shown === null) return;
      rewrite("");
      shown = null;
    },
  };
}
