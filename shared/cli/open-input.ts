import { createReadStream, fstatSync, openSync } from "node:fs";
import { addAbortSignal } from "node:stream";
import type { Readable } from "node:stream";
import { invalidInput } from "../admin/read-result";
import { messageOf } from "../core/foreign-value";

/** A file of the user's, or standard input, piece by piece. */
export interface Input {
  readonly pieces: AsyncIterable<Uint8Array>;
  /** Length of the whole; null: not known. */
  readonly bytes: number | null;
}

/** Bytes of one piece of a file. */
const pieceBytes = 256 * 1024;

/**
 * Opens a file; `-` is standard input. `signal` ends the reading: then `pieces` throws. Throws InvalidArgumentError that names `field` for
 * a file that can't be opened.
 */
export function openInput(
  path: string,
  { field, signal }: { readonly field: string; readonly signal?: AbortSignal | undefined },
): Input {
  if (path === "-") return { pieces: endedBy(process.stdin, signal), bytes: null };
  const refuse = (reason: string): never => {
    const value = `\`${path.slice(0, 200)}\` (${reason})`;
    throw invalidInput([{ field, value, expected: "a file that can be read" }]);
  };
  try {
    const fd = openSync(path, "r");
    const stat = fstatSync(fd);
    if (stat.isDirectory()) return refuse("it is a folder");
    const pieces = createReadStream(path, { fd, highWaterMark: pieceBytes });
    return { pieces: endedBy(pieces, signal), bytes: stat.isFile() ? stat.size : null };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined || code.startsWith("TASKGATE")) throw error;
    return refuse(messageOf(error));
  }
}

function endedBy(stream: Readable, signal: AbortSignal | undefined): Readable {
  if (signal === undefined) return stream;
  // Before it is read an end would have no listener, and end the process.
  stream.on("error", () => undefined);
  return addAbortSignal(signal, stream);
}
