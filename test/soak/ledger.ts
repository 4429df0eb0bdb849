import { mkdirSync, writeSync, openSync, closeSync } from "node:fs";
import { join } from "node:path";

/*
 * What happened in a run, in files outside of the database: one line per entry, handed to the system before its writer goes
 * on, so a killed process leaves everything that it had done. Each process writes files of its own, one per ten minutes, so
 * a long run is read again piece by piece. All times are those of the computer's clock, which the database has, too.
 */

/** How a run of a handler ended. */
export type RunEnd = "returned" | "threw" | "gaveup" | "continued" | "gone";
/** How a task ended, as its row in the database says. */
export type Outcome = "done" | "dead" | "cancelled";

/** `late`: it has said itself that it could not renew a lease in time. */
export type WorkerNews = "killed" | "frozen" | "thawed" | "late" | "ended";

export type Entry = { readonly atMs: number } & (
  | {
      /** A handler begins. `waitMs`: since its task was enqueued, where that says something. */
      readonly is: "begin";
      readonly task: string;
      readonly fence: string;
      readonly kind: string;
      readonly worker: string;
      readonly tag: string | null;
      readonly waitMs: number | null;
    }
  | { readonly is: "end"; readonly task: string; readonly fence: string; readonly how: RunEnd }
  /** An enqueue was acknowledged. */
  | { readonly is: "queued"; readonly task: string; readonly kind: string }
  /** The database has the task as finished, since `atMs`. */
  | {
      readonly is: "ended";
      readonly task: string;
      readonly kind: string;
      readonly outcome: Outcome;
      readonly tag: string | null;
    }
  /** A dead task was made a task again; the call was sent at `atMs`. */
  | { readonly is: "redriven"; readonly task: string }
  | { readonly is: "worker"; readonly worker: string; readonly what: WorkerNews }
  | { readonly is: "leg"; readonly what: "started" | "stopped" }
  /** All ends before `atMs` are in the ledger. */
  | { readonly is: "read" }
  /** Something that must not be, as its writer saw it. */
  | { readonly is: "wrong"; readonly text: string }
);

/** An entry without its place in the union, for writers. */
export type WriteEntry = (entry: Entry) => void;

/** Length of the time that one file holds. */
export const sliceMs = 600_000;

const none = "-";
const textOf = (value: string | number | null): string => (value === null ? none : String(value));
const valueOf = (text: string | undefined): string | null =>
  text === undefined || text === none ? null : text;

/** An entry as one line without its end. Tags and names have no blanks. */
export function formatEntry(entry: Entry): string {
  const at = String(entry.atMs);
  switch (entry.is) {
    case "begin": {
      const { task, fence, kind, worker, tag, waitMs } = entry;
      return ["begin", at, task, fence, kind, worker, textOf(tag), textOf(waitMs)].join(" ");
    }
    case "end":
      return ["end", at, entry.task, entry.fence, entry.how].join(" ");
    case "queued":
      return ["queued", at, entry.task, entry.kind].join(" ");
    case "ended":
      return ["ended", at, entry.task, entry.kind, entry.outcome, textOf(entry.tag)].join(" ");
    case "redriven":
      return ["redriven", at, entry.task].join(" ");
    case "worker":
      return ["worker", at, entry.worker, entry.what].join(" ");
    case "leg":
      return ["leg", at, entry.what].join(" ");
    case "read":
      return ["read", at].join(" ");
    case "wrong":
      return ["wrong", at, entry.text].join(" ");
  }
}

/** The entry of a line. Throws an Error for a line that no writer writes. */
export function parseEntry(line: string): Entry {
  const [is, at, ...words] = line.split(" ");
  const atMs = Number(at);
  const [first = "", second = "", third = "", fourth, fifth, sixth] = words;
  switch (is) {
    case "begin": {
      const waitMs = valueOf(sixth);
      return {
        ...{ is, atMs, task: first, fence: second, kind: third, worker: fourth ?? "" },
        tag: valueOf(fifth),
        waitMs: waitMs === null ? null : Number(waitMs),
      };
    }
    case "end":
      return { is, atMs, task: first, fence: second, how: third as RunEnd };
    case "queued":
      return { is, atMs, task: first, kind: second };
    case "ended":
      return {
        ...{ is, atMs, task: first, kind: second, outcome: third as Outcome },
        tag: valueOf(fourth),
      };
    case "redriven":
      return { is, atMs, task: first };
    case "worker":
      return { is, atMs, worker: first, what: second as WorkerNews };
    case "leg":
      return { is, atMs, what: first as "started" };
    case "read":
      return { is, atMs };
    case "wrong":
      return { is, atMs, text: words.join(" ") };
    default:
      throw new Error(`Expected a line of the ledger, got \`${line.slice(0, 200)}\``);
  }
}

/** Appends a process's entries below `folder`, in the folder of the ten minutes in which they are written. */
export function openLedger(folder: string, writer: string): WriteEntry {
  let slice = -1;
  let file: number | null = null;
  return (entry) => {
    const now = Math.floor(Date.now() / sliceMs);
    if (file === null || now !== slice) {
      if (file !== null) closeSync(file);
      const place = join(folder, String(now));
      mkdirSync(place, { recursive: true });
      file = openSync(join(place, `${writer}.txt`), "a");
      slice = now;
    }
    writeSync(file, `${formatEntry(entry)}\n`);
  };
}
