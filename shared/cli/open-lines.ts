import { closeSync, openSync, writeSync } from "node:fs";
import { invalidInput } from "../admin/read-result";
import { messageOf } from "../core/foreign-value";
import type { Output } from "../terminal/output";

/** Where a command writes lines that may be many: a new file, or standard output. */
export interface LineOutput {
  line(text: string): void;
  close(): void;
}

/**
 * A file that only its owner may read, as payloads may be private; without `path` standard output. Throws InvalidArgumentError that
 * names `--to` where the file is there already or can't be made.
 */
export function openLines(path: string | undefined, output: Output): LineOutput {
  if (path === undefined) return { line: output.line, close: () => undefined };
  const fd = open(path);
  return {
    line: (text) => {
      writeSync(fd, `${text}\n`);
    },
    close: () => {
      closeSync(fd);
    },
  };
}

function open(path: string): number {
  try {
    return openSync(path, "wx", 0o600);
  } catch (error) {
    const value = `\`${path.slice(0, 200)}\` (${messageOf(error)})`;
    const expected = "a file that can be made and isn't there yet";
    throw invalidInput([{ field: "--to", value, expected }]);
  }
}
