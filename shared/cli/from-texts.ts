import { noSums } from "../admin/enqueue-sums";
import type { EnqueueSums } from "../admin/enqueue-sums";
import { shareBar } from "../terminal/bars";
import { showDuration } from "../terminal/output";
import { describeSums } from "./enqueue-texts";
import type { FromPlan } from "./from-options";
import type { SourceTask } from "./task-source";

/** How far `taskgate enqueue --from` is, for people. */

/** What became of the tasks so far. */
export type FromDone = EnqueueSums & { readonly calls: number };

/** Before the first call. */
export function noneDone(afterLine: number): FromDone {
  return { calls: 0, ...noSums(afterLine) };
}

/** `[####------] 42 %  line 4200: 4190 added, 10 there already, about 12 s left`. `share` of the file, or null. */
export function describeProgress(
  { lines, enqueued, duplicates }: FromDone,
  share: number | null,
  leftMs: number | null,
): string {
  const bar = share === null ? "" : `${shareBar(share)}  `;
  const left = leftMs === null ? "" : `, about ${showDuration(leftMs)} left`;
  return `${bar}line ${String(lines)}: ${String(enqueued)} added, ${String(duplicates)} there already${left}`;
}

/** The sums, in a sentence. */
export function describeDone(done: FromDone, { definition, source, afterLine }: FromPlan): string {
  if (done.calls === 0) {
    const place = afterLine === 0 ? "" : ` behind line ${String(afterLine)}`;
    return `No task was added: ${source} has none${place}.`;
  }
  return describeSums(definition, done);
}

/** Up to where all tasks are in, and how the rest is enqueued. `lost`: the tasks of a call whose answer was lost. */
export function howToGoOn(
  done: FromDone,
  { key, afterLine }: FromPlan,
  lost: readonly SourceTask[],
): string {
  const behind = String(done.lines);
  const isNone = done.lines === 0 || done.lines === afterLine;
  const first = lost[0]?.number;
  const last = lost.at(-1)?.last;
  const unsure =
    first === undefined || last === undefined
      ? ""
      : ` Tasks of the lines ${String(first)} to ${String(last)} may be enqueued, too.`;
  if (isNone) return `Nothing was enqueued.${unsure}`;
  const again = key === undefined ? "" : "; the same command again counts them as there already";
  return `All tasks up to line ${behind} are enqueued: --after-line ${behind} goes on behind it${again}.${unsure}`;
}
