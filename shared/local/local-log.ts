import { createWriteStream } from "node:fs";

/** Everything that the hosts and the functions write: a file, and the last line that a person should see. */
export interface LocalLog {
  /** Absolute. */
  readonly path: string;
  /** Adds a line. */
  add(line: string): void;
  /** The last line that says something: not a debug line, not the library's talk. Null at the start. */
  last(): string | null;
  /** Flushes and closes the file. */
  close(): Promise<void>;
}

const shownLengthMax = 300;
/** The host says at each invocation that it begins and that it went well. */
const dull = /^\S*\s*(?:\[\S+\]\s*)?(?:debug|trace)\b|Executing '|\(Succeeded, /i;

/** Begins the file anew. */
export function openLocalLog(path: string): LocalLog {
  const stream = createWriteStream(path, { flags: "w" });
  // A full disk must not end the run: the log is a convenience.
  stream.on("error", () => undefined);
  let last: string | null = null;
  return {
    path,
    add: (line) => {
      stream.write(`${line}\n`);
      if (line.trim() !== "" && !dull.test(line)) last = line.slice(0, shownLengthMax);
    },
    last: () => last,
    close: () =>
      new Promise((resolve) => {
        stream.end(resolve);
      }),
  };
}
