import { formatDuration } from "../core/duration";
import type { Output } from "../terminal/output";
import { createProgressLine } from "../terminal/progress-line";
import type { ProgressLine } from "../terminal/progress-line";

/** What the person at the command is told while a migration lasts; `end` may be called again. */
export interface MigrationProgress extends ProgressLine {
  /** A pause of so long begins, and was told of. */
  pauses(ms: number): void;
}

const tellEveryMs = 10_000;
const slowReasons =
  "Another migration, a transaction that uses Taskgate's tables, or a server that doesn't answer may stand in its way.";

/** A migration waits for another one, and for locks on its tables, without an end: then it says so now and then. */
export function createMigrationProgress(
  output: Output,
  options: { isJson: boolean; monotonicMs: () => number },
): MigrationProgress {
  const { monotonicMs } = options;
  const { show, end } = createProgressLine(output, options);
  const begunAtMs = monotonicMs();
  let timer: NodeJS.Timeout;
  const tellIn = (ms: number): void => {
    timer = setTimeout(() => {
      const lasted = formatDuration(monotonicMs() - begunAtMs);
      show("migrate", `Still migrating after ${lasted}. ${slowReasons}`);
      tellIn(tellEveryMs);
    }, ms);
  };
  tellIn(tellEveryMs);
  return {
    show,
    pauses: (ms) => {
      clearTimeout(timer);
      tellIn(ms + tellEveryMs);
    },
    end: () => {
      clearTimeout(timer);
      end();
    },
  };
}
