import { setImmediate } from "node:timers/promises";
import { invalidInput } from "./read-result";

/** Text that comes as a stream of bytes, cut into lines: a long text costs no more memory than a line. */

/** A line of a text. */
export interface TextLine {
  /** From 1. */
  readonly number: number;
  /** Without its line feed; a carriage return before that stays. */
  readonly text: string;
  /** Of the text as it came. */
  readonly bytes: number;
}

/** How long a text may be. */
export interface LineBounds {
  /** Lines, empty ones counted. */
  readonly linesMax: number;
  readonly lineBytesMax: number;
}

/** Bytes that are read before others have their turn: a source may hand over all of them at once. */
const pieceBytes = 64 * 1024;
const lineFeed = 0x0a;

/**
 * The lines of a text in UTF-8, in groups; each group is read before the next one is asked for. The last line needs no end. Throws
 * InvalidArgumentError that names the line for bytes that aren't UTF-8, and with TASKGATE_ARG_TOO_LARGE for a line or a text that is too long.
 */
export async function* linesOf(
  pieces: AsyncIterable<Uint8Array>,
  bounds: LineBounds,
): AsyncGenerator<Iterable<TextLine>> {
  const cutter = new LineCutter(bounds);
  for await (const piece of pieces) {
    for (let from = 0; from < piece.length; from += pieceBytes) {
      yield cutter.cut(piece.subarray(from, from + pieceBytes));
      await setImmediate();
    }
  }
  yield cutter.cut(Uint8Array.of(lineFeed));
}

/** Cuts pieces of a text into lines. */
class LineCutter {
  readonly #bounds: LineBounds;
  #begun: Uint8Array[] = [];
  #begunBytes = 0;
  #number = 0;

  constructor(bounds: LineBounds) {
    this.#bounds = bounds;
  }

  /** The lines that end in this piece. */
  *cut(bytes: Uint8Array): Generator<TextLine> {
    let from = 0;
    for (let end = bytes.indexOf(lineFeed); end >= 0; end = bytes.indexOf(lineFeed, from)) {
      if (end > from) this.#keep(bytes.subarray(from, end));
      from = end + 1;
      this.#number += 1;
      if (this.#number > this.#bounds.linesMax) refuseMany(this.#bounds.linesMax);
      yield this.#take();
    }
    if (from < bytes.length) this.#keep(bytes.subarray(from));
  }

  #keep(part: Uint8Array): void {
    this.#begunBytes += part.length;
    const { lineBytesMax } = this.#bounds;
    if (this.#begunBytes > lineBytesMax) refuseLong(this.#number + 1, lineBytesMax);
    this.#begun.push(part);
  }

  #take(): TextLine {
    const [first] = this.#begun;
    const line =
      this.#begun.length === 1 && first !== undefined ? first : Buffer.concat(this.#begun);
    this.#begun = [];
    this.#begunBytes = 0;
    const number = this.#number;
    return { number, text: line.length === 0 ? "" : decode(line, number), bytes: line.length };
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function decode(line: Uint8Array, number: number): string {
  try {
    return utf8.decode(line);
  } catch {
    const field = `line ${String(number)}`;
    throw invalidInput([{ field, value: "bytes that are not UTF-8", expected: "text in UTF-8" }]);
  }
}

function refuseMany(linesMax: number): never {
  const max = String(linesMax);
  const problem = {
    field: "body",
    value: `more than ${max} lines`,
    expected: `at most ${max} lines; send the rest as another request`,
  };
  throw invalidInput([problem], "TASKGATE_ARG_TOO_LARGE");
}

function refuseLong(number: number, bytesMax: number): never {
  const max = String(bytesMax);
  const field = `line ${String(number)}`;
  const problem = { field, value: `more than ${max} bytes`, expected: `at most ${max} bytes` };
  throw invalidInput([problem], "TASKGATE_ARG_TOO_LARGE");
}
