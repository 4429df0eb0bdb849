import type { Entry, RunEnd } from "./ledger";
import { leaseMs } from "./plan";

/** One run of a handler, from its begin on. */
export interface Flight {
  readonly task: string;
  readonly fence: string;
  readonly kind: string;
  readonly worker: string;
  readonly tag: string | null;
  readonly beginMs: number;
  endMs: number | null;
  how: RunEnd | "halted" | null;
  /**
   * It counts: its worker runs, and holds its lease for sure. Not while the worker is frozen, and not after a freeze that
   * may have lasted longer than what was left of the lease.
   */
  isCovered: boolean;
}

type Begin = Extract<Entry, { is: "begin" }>;
type End = Extract<Entry, { is: "end" }>;
type WorkerEntry = Extract<Entry, { is: "worker" }>;

/** After a freeze as long as this nobody knows whether the lease still holds: it is renewed at a third of its time. */
const coveredFreezeMs = leaseMs / 3;

/** Which handlers run, by the ledger. */
export class Flights {
  /** By task and fence. */
  readonly #open = new Map<string, Flight>();
  /** The last of each task that hasn't ended. */
  readonly #last = new Map<string, Flight>();
  readonly #haltedMs = new Map<string, number>();
  readonly #frozenMs = new Map<string, number>();
  readonly #gone = new Set<string>();
  #legMs = 0;

  get open(): Iterable<Flight> {
    return this.#open.values();
  }

  begin(entry: Begin): { flight: Flight; before: Flight | null } {
    const { task, fence, kind, worker, tag, atMs } = entry;
    const flight: Flight = {
      ...{ task, fence, kind, worker, tag },
      beginMs: atMs,
      endMs: null,
      how: null,
      // What a process writes while it is being killed may come after the note of it.
      isCovered: !this.#frozenMs.has(worker) && !this.#gone.has(worker),
    };
    const before = this.#last.get(task) ?? null;
    this.#open.set(`${task}/${fence}`, flight);
    this.#last.set(task, flight);
    return { flight, before };
  }

  /** null: its worker was halted before. */
  end({ task, fence, atMs, how }: End): Flight | null {
    const flight = this.#open.get(`${task}/${fence}`);
    if (flight === undefined) return null;
    flight.endMs = atMs;
    flight.how = how;
    this.#open.delete(`${task}/${fence}`);
    return flight;
  }

  /** The task has ended: its runs are of no interest any more. */
  forget(task: string): void {
    this.#last.delete(task);
  }

  /** Has its worker been halted since the flight began? Then what it had done may not count. */
  wasHalted({ worker, beginMs }: Flight): boolean {
    if (this.#gone.has(worker)) return true;
    return Math.max(this.#haltedMs.get(worker) ?? 0, this.#legMs) >= beginMs;
  }

  /** Says that it is late, and nothing had halted it for so long that this would be the reason. */
  isLateForNoReason({ worker, what, atMs }: WorkerEntry): boolean {
    const haltedMs = Math.max(this.#haltedMs.get(worker) ?? 0, this.#legMs);
    return what === "late" && !this.#frozenMs.has(worker) && atMs - haltedMs > 2 * leaseMs;
  }

  /** Returns the flights that end here, those that stop counting, and those that count again. */
  workerNews({ worker, what, atMs }: WorkerEntry): { uncovered: Flight[]; covered: Flight[] } {
    this.#haltedMs.set(worker, atMs);
    const own = [...this.#open.values()].filter((flight) => flight.worker === worker);
    if (what === "frozen") {
      this.#frozenMs.set(worker, atMs);
      return { uncovered: own.filter((flight) => setCovered(flight, false)), covered: [] };
    }
    if (what === "late")
      return { uncovered: own.filter((flight) => setCovered(flight, false)), covered: [] };
    const frozenMs = this.#frozenMs.get(worker);
    this.#frozenMs.delete(worker);
    if (what === "thawed") {
      // A worker notices its own freeze, too: the second to tell of its end tells nothing new.
      const isShort = frozenMs !== undefined && atMs - frozenMs <= coveredFreezeMs;
      if (!isShort) return { uncovered: [], covered: [] };
      return { uncovered: [], covered: own.filter((flight) => setCovered(flight, true)) };
    }
    this.#gone.add(worker);
    return { uncovered: own.filter((flight) => this.#halt(flight, atMs)), covered: [] };
  }

  /** No worker of another leg lives on. */
  legNews(atMs: number): Flight[] {
    this.#legMs = atMs;
    this.#frozenMs.clear();
    return [...this.#open.values()].filter((flight) => this.#halt(flight, atMs));
  }

  /** True: it counted so far. */
  #halt(flight: Flight, atMs: number): boolean {
    flight.endMs = atMs;
    flight.how = "halted";
    this.#open.delete(`${flight.task}/${flight.fence}`);
    return setCovered(flight, false);
  }
}

/** True: it changed. */
function setCovered(flight: Flight, isCovered: boolean): boolean {
  if (flight.isCovered === isCovered) return false;
  flight.isCovered = isCovered;
  return true;
}
