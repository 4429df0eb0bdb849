import { closeSync, existsSync, fstatSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";
import { parseEntry } from "./ledger";
import type { Entry } from "./ledger";

/** A slice is looked at for so many more slices: a frozen process writes late. */
const lateSlices = 2;

/** Reads the ledgers of all processes, slice after slice. */
export class LedgerReader {
  readonly #folder: string;
  readonly #offsets = new Map<string, number>();
  readonly #closed = new Set<string>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** What was written since, one list per slice of time, so that the whole of a long run never is in memory. */
  *read(): Generator<Entry[]> {
    if (!existsSync(this.#folder)) return;
    const slices = readdirSync(this.#folder).sort((a, b) => Number(a) - Number(b));
    for (const slice of slices) {
      if (this.#closed.has(slice)) continue;
      yield this.#readSlice(slice);
    }
    for (const slice of slices.slice(0, -1 - lateSlices)) this.#closed.add(slice);
  }

  #readSlice(slice: string): Entry[] {
    const entries: Entry[] = [];
    const place = join(this.#folder, slice);
    for (const name of readdirSync(place)) this.#readFile(join(place, name), entries);
    return entries;
  }

  /** A line that isn't complete is for the next time, or its writer was killed. */
  #readFile(path: string, entries: Entry[]): void {
    const file = openSync(path, "r");
    try {
      const offset = this.#offsets.get(path) ?? 0;
      const chunk = Buffer.alloc(fstatSync(file).size - offset);
      readSync(file, chunk, 0, chunk.length, offset);
      const whole = chunk.subarray(0, chunk.lastIndexOf("\n") + 1);
      this.#offsets.set(path, offset + whole.length);
      for (const line of whole.toString().split("\n"))
        if (line !== "") entries.push(parseEntry(line));
    } finally {
      closeSync(file);
    }
  }
}
