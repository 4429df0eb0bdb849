import { setImmediate } from "node:timers/promises";
import type { HttpRequest } from "@azure/functions";
import type { EnqueueReport } from "../../admin/create-admin";
import { readTaskLines } from "../../admin/enqueue-request";
import type { TaskLine } from "../../admin/enqueue-request";
import { invalidInput, take } from "../../admin/read-result";
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
 * throws PartlyDone with the part done before it, or the error itself where there is none.
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
    if (done.lines === 0) throw error;
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

/** Lines that aren't blank, in slices. */
async function* slicesOf({ body }: HttpRequest): AsyncGenerator<TaskLine[]> {
  const cutter = new LineCutter();
  let slice: TaskLine[] = [];
  let byteCount = 0;
  for await (const piece of withEnd((body ?? []) as AsyncIterable<Uint8Array>)) {
    for (const line of cutter.cut(piece)) {
      const text = decode(line, cutter.number);
      if (text.trim() === "") continue;
      if (byteCount + line.length > limits.httpSliceBytesMax) {
        yield slice;
        slice = [];
        byteCount = 0;
      }
      slice.push({ number: cutter.number, text });
      byteCount += line.length;
      if (slice.length < limits.httpSliceTasksMax) continue;
      yield slice;
      slice = [];
      byteCount = 0;
    }
  }
  if (slice.length > 0) yield slice;
}

/** Bytes that are read before others have their turn: a host may hand over the whole body at once. */
const pieceBytes = 64 * 1024;

/** The body in short pieces, and an end for its last line. */
async function* withEnd(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    for (let from = 0; from < piece.length; from += pieceBytes) {
      yield piece.subarray(from, from + pieceBytes);
      await setImmediate();
    }
  }
  yield Uint8Array.of(lineFeed);
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function decode(line: Uint8Array, number: number): string {
  try {
    return utf8.decode(line);
  } catch {
    const field = `line ${String(number)}`;
    throw invalidInput([{ field, value: "bytes that are not UTF-8", expected: "JSON in UTF-8" }]);
  }
}

const lineFeed = 0x0a;

/** Cuts pieces of a body into lines. */
class LineCutter {
  #begun: Uint8Array[] = [];
  #begunBytes = 0;
  /** Of the line that was cut last, from 1. */
  number = 0;

  /** The lines that end in this piece, without their ends, and without those that hold nothing. */
  *cut(bytes: Uint8Array): Generator<Uint8Array> {
    let from = 0;
    for (let end = bytes.indexOf(lineFeed); end >= 0; end = bytes.indexOf(lineFeed, from)) {
      if (end > from) this.#keep(bytes.subarray(from, end));
      from = end + 1;
      this.number += 1;
      if (this.number > limits.httpLinesMax) refuseMany();
      if (this.#begunBytes > 0) yield this.#take();
    }
    if (from < bytes.length) this.#keep(bytes.subarray(from));
  }

  #keep(part: Uint8Array): void {
    this.#begunBytes += part.length;
    if (this.#begunBytes > limits.httpTaskBytesMax) refuseLong(this.number + 1);
    this.#begun.push(part);
  }

  #take(): Uint8Array {
    const [first] = this.#begun;
    const line =
      this.#begun.length === 1 && first !== undefined ? first : Buffer.concat(this.#begun);
    this.#begun = [];
    this.#begunBytes = 0;
    return line;
  }
}

function refuseMany(): never {
  const max = String(limits.httpLinesMax);
  const problem = {
    field: "body",
    value: `more than ${max} lines`,
    expected: `at most ${max} lines; send the rest as another request`,
  };
  throw invalidInput([problem], "TASKGATE_ARG_TOO_LARGE");
}

function refuseLong(number: number): never {
  const max = String(limits.httpTaskBytesMax);
  const field = `line ${String(number)}`;
  const problem = { field, value: `more than ${max} bytes`, expected: `at most ${max} bytes` };
  throw invalidInput([problem], "TASKGATE_ARG_TOO_LARGE");
}
