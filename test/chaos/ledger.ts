import { closeSync, openSync, writeSync } from "node:fs";

/*
 * What hosts say of themselves, in files that nothing of a run disturbs: one file per process, one line per entry. A line is
 * handed to the system before the handler goes on, so a killed process leaves everything that it had done; only a machine
 * that loses its power would need more. All times are of the machine's clock.
 */

/** How a handler ended: it returned, committed with its effect, went on later, threw, or found its lease gone. */
export type FlightEnd = "returned" | "committed" | "continued" | "threw" | "gone";

export type Entry =
  | { is: "born"; atMs: number; host: string; build: number; skewMs: number }
  /** An answer of `start_execution`: how the question went. */
  | { is: "asked"; atMs: number; host: string; definition: string; status: string }
  /** An answer that renewed a lease, or opened it: it lasts at least until `sentMs` + `leaseMs`. */
  | { is: "lease"; execution: string; definition?: string; sentMs: number; leaseMs: number }
  | { is: "claim"; execution: string; fence: string; tasks: readonly string[]; orders: string }
  | { is: "begin"; atMs: number; host: string; task: string; fence: string; about: FlightSubject }
  /** Nothing but its completion is left to do. */
  | { is: "settling"; atMs: number; task: string; fence: string }
  | { is: "end"; atMs: number; task: string; fence: string; how: FlightEnd }
  /** The store said that this completion counts. */
  | { is: "ack"; atMs: number; task: string; fence: string }
  | { is: "execution"; atMs: number; host: string; deadlineMs: number; longestCallMs: number };

/** What the judge has to know of a task that runs. */
export interface FlightSubject {
  readonly kind: string;
  readonly definition: string;
  readonly group: string | null;
  readonly priority: number;
}

export type WriteEntry = (entry: Entry) => void;

/** Opens a ledger for appending. */
export function openLedger(path: string): { write: WriteEntry; close: () => void } {
  const file = openSync(path, "a");
  return {
    write: (entry) => {
      writeSync(file, `${JSON.stringify(entry)}\n`);
    },
    close: () => {
      closeSync(file);
    },
  };
}
