import { addReport, noSums } from "../../admin/enqueue-sums";
import type { EnqueueSums } from "../../admin/enqueue-sums";
import type { HttpRequest } from "@azure/functions";
import type { EnqueueReport } from "../../admin/create-admin";
import { readTaskLines } from "../../admin/enqueue-request";
import type { TaskLine } from "../../admin/enqueue-request";
import { invalidInput, take } from "../../admin/read-result";
import { linesOf } from "../../admin/text-lines";
import { limits } from "../../core/limits";
import type { NewTask } from "../../ports/task-store";
import { PartlyDone } from "./partly-done";

/** Tasks that come as a line of JSON each, read and enqueued slice by slice. A long list costs no more memory than a slice. */

/**
 * Enqueues all lines in their order, at most 500 tasks and 1 MiB at a time. Where a slice fails none of its lines is taken:
 * throws PartlyDone with the part done before it, which may be nothing.
 */
export async function enqueueStream(
  request: HttpRequest,
  enqueue: (tasks: readonly NewTask[]) => Promise<EnqueueReport>,
): Promise<EnqueueSums> {
  let done = noSums(0);
  try {
    for await (const slice of slicesOf(request)) {
      const report = await enqueue(take(readTaskLines(slice)));
      done = addReport(done, report, slice.at(-1)?.number ?? done.lines);
    }
  } catch (error) {
    throw new PartlyDone(error, done);
  }
  if (done.lines > 0) return done;
  throw invalidInput([{ field: "body", value: "nothing", expected: "a task on each line" }]);
}

const bounds = { linesMax: limits.httpLinesMax, lineBytesMax: limits.httpTaskBytesMax };

/** Lines that aren't blank, in slices. */
async function* slicesOf({ body }: HttpRequest): AsyncGenerator<TaskLine[]> {
  let slice: TaskLine[] = [];
  let byteCount = 0;
  const takeSlice = (): TaskLine[] => {
    const taken = slice;
    slice = [];
    byteCount = 0;
    return taken;
  };
  for await (const lines of linesOf((body ?? []) as AsyncIterable<Uint8Array>, bounds)) {
    for (const { number, text, bytes } of lines) {
      if (text.trim() === "") continue;
      if (byteCount + bytes > limits.httpSliceBytesMax) yield takeSlice();
      slice.push({ number, text });
      byteCount += bytes;
      if (slice.length >= limits.httpSliceTasksMax) yield takeSlice();
    }
  }
  if (slice.length > 0) yield slice;
}
