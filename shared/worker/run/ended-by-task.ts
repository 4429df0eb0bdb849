import { describeThrown } from "../../core/describe-thrown";
import type { ProcessEnds } from "../../ports/process-ends";
import { currentTask } from "./late-rejections";

/*
 * A handler may end its process: by `process.exit`, or by an error that it throws outside of its promise, as in a timer. Its
 * supervisor sees an exit code and nothing else; with 0 it takes that for an ordered end and starts nothing again.
 */

/** One look per process, however many gates it has. */
const watched = new WeakSet<ProcessEnds>();

/**
 * Says by which task a process is ended, in a line that `write` puts out at once, and makes of the exit code 0 a 1: what the
 * process had started counts as lost.
 */
export function watchEndsByTasks(process: ProcessEnds, write: (line: string) => void): void {
  if (watched.has(process)) return;
  watched.add(process);
  let isTold = false;
  process.on("uncaughtExceptionMonitor", (error) => {
    const task = currentTask();
    if (task === undefined) return;
    isTold = true;
    const [message] = describeThrown(error).split("\n", 1);
    write(
      `error Task ${task.taskId} (${task.kind}) threw outside of its handler's promise, which ends the process: ${message ?? ""}`,
    );
  });
  process.on("exit", () => {
    const task = currentTask();
    if (task === undefined || isTold) return;
    write(
      `error Task ${task.taskId} (${task.kind}) called process.exit. It counts as lost, and so do the tasks beside it`,
    );
    if ((process.exitCode ?? 0) === 0) process.exitCode = 1;
  });
}
