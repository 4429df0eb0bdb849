import type { BatchReport } from "../admin/batch-actions";
import { messageOf } from "../core/foreign-value";
import type { BatchId } from "../core/ids";
import { shareBar } from "../terminal/bars";
import { showDuration } from "../terminal/output";
import type { CommandContext } from "./command";
import { exitCodeOf, exitCodes } from "./exit-codes";
import type { CommandExitCode } from "./exit-codes";
import { progressOf } from "./progress-of";
import { readEvery } from "./watch";

/**
 * Looks at a batch again and again until it has ended, or halts. On a terminal a bar of its tasks moves; with --json each look is a line.
 * `show` writes the last look for people. Answers 1 where a task is dead, or the batch was halted or cancelled; 130 at Ctrl+C.
 */
export async function followBatch(
  context: CommandContext,
  batchId: BatchId,
  show: (batch: BatchReport) => string,
): Promise<CommandExitCode> {
  const { isJson, output } = context;
  const everyMs = readEvery(context.options["every"] ?? "2s");
  const { pause } = context.repeater();
  const progress = progressOf(context);
  let last: BatchReport | null = null;
  do {
    const batch = await look(context, batchId, last);
    if ("away" in batch) {
      progress.show("away", batch.away);
      continue;
    }
    last = batch;
    if (isJson) output.line(JSON.stringify(batch));
    const { state } = batch;
    if (state === "running" || state === "draft") {
      progress.show(`${state} ${String(waveOf(batch))}`, describeFollowed(batch));
      continue;
    }
    progress.end();
    if (!isJson) output.line(show(batch));
    if (state === "halted" && !isJson)
      output.error(
        `It halts after a dead task: \`taskgate batch ${batchId} --resume\` continues it.`,
      );
    return state === "done" && batch.dead === 0 ? exitCodes.ok : exitCodes.failed;
  } while (await pause(everyMs));
  progress.end();
  return 130;
}

/** A database that was there may be away for a while; what can't be right later ends the program. */
async function look(
  context: CommandContext,
  batchId: BatchId,
  last: BatchReport | null,
): Promise<BatchReport | { readonly away: string }> {
  try {
    return await context.admin().batch(batchId);
  } catch (error) {
    if (last === null || exitCodeOf(error) !== exitCodes.unreachable) throw error;
    context.reconnect();
    return { away: `taskgate: ${messageOf(error)}` };
  }
}

/** `[#####-----]  42 %  wave 2 of 3: 420 of 1000 tasks ended, 3 of them dead, 580 left, about 2 min left` */
export function describeFollowed(batch: BatchReport): string {
  const { tasks, ended, dead, waves, estimatedLeftMs } = batch;
  const bar = shareBar(tasks === 0 ? 0 : ended / tasks);
  const deaths = dead === 0 ? "" : `, ${String(dead)} of them dead`;
  const time = estimatedLeftMs === null ? "" : `, about ${showDuration(estimatedLeftMs)}`;
  const place =
    batch.state === "draft"
      ? "not started"
      : `wave ${String(waveOf(batch))} of ${String(waves.length)}`;
  return `${bar}  ${place}: ${String(ended)} of ${String(tasks)} ended${deaths}, ${String(tasks - ended)} left${time}`;
}

/** The wave that has begun last; 0: none has. */
function waveOf({ waves }: BatchReport): number {
  return waves.filter((wave) => wave.openedAt !== null).length;
}
