import { createWriteStream, renameSync, rmSync } from "node:fs";
import type { WriteStream } from "node:fs";
import { realClock } from "../platform/real-clock";

/** What differs in tests. */
export interface LocalLogOptions {
  /** The file is put aside as `<path>.1`, over the one before, when it has so many bytes. Default 16 MiB. */
  readonly bytesMax?: number;
  /** Monotonic, ms. */
  readonly nowMs?: () => number;
}

const shownLengthMax = 300;
const fileBytesMax = 16_777_216;
/** A disk that was full may have space again. */
const retryAfterMs = 5_000;
/** The host says at each invocation that it begins and that it went well. */
const dull = /^\S*\s*(?:\[\S+\]\s*)?(?:debug|trace)\b|Executing '|\(Succeeded, /i;

/**
 * Everything that the hosts and the functions write: a file of bounded size, and the last line that a person should see. An error
 * never ends the run, for the log is a convenience; lines of that time are lost.
 */
export class LocalLog {
  readonly #path: string;
  readonly #bytesMax: number;
  readonly #nowMs: () => number;
  /** Null: the last one failed. */
  #stream: WriteStream | null = null;
  #bytes = 0;
  #failedAtMs = 0;
  #last: string | null = null;

  /** Begins the file anew. Its owner alone may read it: what functions log is theirs. */
  constructor(path: string, { bytesMax = fileBytesMax, nowMs }: LocalLogOptions = {}) {
    this.#path = path;
    this.#bytesMax = bytesMax;
    this.#nowMs = nowMs ?? (() => realClock.monotonicMs());
    // An older file keeps its mode when it is opened.
    attempt(() => {
      rmSync(path, { force: true });
    });
    this.#open("w");
  }

  /** The last line that says something: not a debug line, not the library's talk. Null at the start. */
  last(): string | null {
    return this.#last;
  }

  /** Adds a line. */
  add(line: string): void {
    if (line.trim() !== "" && !dull.test(line)) this.#last = line.slice(0, shownLengthMax);
    const isTimeToTry = this.#nowMs() - this.#failedAtMs >= retryAfterMs;
    if (this.#stream === null && isTimeToTry) this.#open("a");
    if (this.#bytes >= this.#bytesMax) this.#putAside();
    this.#bytes += Buffer.byteLength(line) + 1;
    this.#stream?.write(`${line}\n`);
  }

  /** Flushes and closes the file. */
  close(): Promise<void> {
    const stream = this.#stream;
    return new Promise((resolve) => {
      if (stream === null) resolve();
      else
        stream.end(() => {
          resolve();
        });
    });
  }

  #putAside(): void {
    // Windows can't rename a file that is open: it is begun anew then.
    this.#stream?.end();
    attempt(() => {
      renameSync(this.#path, `${this.#path}.1`);
    });
    this.#open("w");
  }

  #open(flags: "w" | "a"): void {
    const stream = createWriteStream(this.#path, { flags, mode: 0o600 });
    if (flags === "w") this.#bytes = 0;
    this.#stream = stream;
    stream.on("error", () => {
      if (this.#stream !== stream) return;
      this.#stream = null;
      this.#failedAtMs = this.#nowMs();
    });
  }
}

function attempt(act: () => void): void {
  try {
    act();
  } catch {
    // The stream tells of it, too.
  }
}
