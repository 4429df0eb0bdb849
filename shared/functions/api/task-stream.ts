import type { HttpRequest } from "@azure/functions";
import type { EnqueueReport } from "../../admin/create-admin";
import { readTaskLines } from "../../admin/enqueue-request";
import type { TaskLine } from "../../admin/enqueue-request";
import { invalidInput, take } from "../../admin/read-result";
import { linesOf } from "../../admin/text-lines";
import { limits } from "../../core/limits";
import type { NewTask } from "../../ports/task-store";
import { PartlyDone } from "./partly-done";

/** Tasks that come as a line of JSON each, read and enqueued slice by slice, so that a long list costs no more memory than a slice. */

/** What became of the lines so far. */
export interface StreamReport {
  /** All lines up to this one are taken, blank ones counted. */
  readonly lines: number;
  readonly enqueued: number;
  readonly replaced: number;
  readonly duplicates: number;
  /** Until the earliest scheduled one is due. */
  readonly nextDueMs: number | null;
}

/**
 * Enqueues all lines in their order, at most 500 tasks and 1 MiB at a time. Where a slice fails none of its lines is taken:
 * throws PartlyDone with the part done before it, which may be nothing.
 */
export async function enqueueStream(
  request: HttpRequest,
  enqueue: (tasks: readonly NewTask[]) => Promise<EnqueueReport>,
): Promise<StreamReport> {
  let done: StreamReport = { lines: 0, enqueued: 0, replaced: 0, duplicates: 0, nextDueMs: null };
  try {
    for await (const slice of slicesOf(request)) {
      const report = await enqueue(take(readTaskLines(slice)));
      done = add(done, report, slice.at(-1)?.number ?? done.lines);
    }
  } catch (error) {
    throw new PartlyDone(error, done);
  }
  if (done.lines > 0) return done;
  throw invalidInput([{ field: "body", value: "nothing", expected: "a task on each line" }]);
}

function add(done: StreamReport, report: EnqueueReport, lines: number): StreamReport {
  const due = [done.nextDueMs, report.nextDueMs].filter((dueMs) => dueMs !== null);
  return {
    lines,
    enqueued: done.enqueued + report.enqueued,
    replaced: done.replaced + report.replaced,
    duplicates: done.duplicates + report.duplicates,
    nextDueMs: due.length === 0 ? null : Math.min(...due),
  };
}

const bounds = { linesMax: limits.httpLinesMax, lineBytesMax: limits.httpTaskBytesMax };

/** Lines that aren't blank, in slices. */
async function* slicesOf({ body }: HttpRequest): AsyncGenerator<TaskLine[]> {
  let slice: TaskLine[] = [];
  let byteCount = 0;
  for await (const lines of linesOf((body ?? []) as AsyncIterable<Uint8Array>, bounds)) {
    for (const { number, text, bytes } of lines) {
      if (text.trim() === "") continue;
      if (byteCount + bytes > limits.httpSliceBytesMax) {
        yield slice;
        slice = [];
        byteCount = 0;
      }
      slice.push({ number, text });
      byteCount += bytes;
      if (slice.length < limits.httpSliceTasksMax) continue;
      yield slice;
      slice = [];
      byteCount = 0;
    }
  }
  if (slice.length > 0) yield slice;
}
