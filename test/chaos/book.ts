import { closeSync, fstatSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";
import type { Entry, FlightEnd } from "./ledger";

/** One run of a handler, as the ledgers tell it. */
export interface Flight {
  readonly host: string;
  readonly task: string;
  readonly fence: string;
  readonly kind: string;
  readonly definition: string;
  readonly group: string | null;
  readonly priority: number;
  readonly beginMs: number;
  /** When only its completion was left to do; null: it didn't come so far. */
  settlingMs: number | null;
  endMs: number | null;
  how: FlightEnd | null;
}

interface Span {
  fromMs: number;
  untilMs: number;
}

/** Everything that hosts have written so far. */
export class Book {
  readonly flights: Flight[] = [];
  readonly asked: Extract<Entry, { is: "asked" }>[] = [];
  readonly executions: Extract<Entry, { is: "execution" }>[] = [];
  readonly born = new Map<string, Extract<Entry, { is: "born" }>>();
  readonly claims: Extract<Entry, { is: "claim" }>[] = [];
  /** Fences under which the store has accepted a task's completion. */
  readonly acks = new Map<string, Set<string>>();
  readonly #byClaim = new Map<string, Flight>();
  readonly #executionOf = new Map<string, string>();
  readonly #leases = new Map<string, Span[]>();
  readonly #grantedMs = new Map<string, number>();
  readonly #offsets = new Map<string, number>();
  readonly #folder: string;
  #known = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Reads the lines written since. A line that isn't complete is for the next time, or its writer was killed. */
  read(): void {
    for (const name of readdirSync(this.#folder).sort()) this.#readFile(name);
    if (this.flights.length === this.#known) return;
    this.#known = this.flights.length;
    this.flights.sort((a, b) => a.beginMs - b.beginMs);
  }

  /** Is it sure that the lease under which this flight runs holds at that instant? */
  isCovered({ fence }: Flight, atMs: number): boolean {
    const spans = this.#leases.get(this.#executionOf.get(fence) ?? "") ?? [];
    return spans.some(({ fromMs, untilMs }) => fromMs <= atMs && atMs < untilMs);
  }

  /** The last instant at which that is sure. */
  coveredUntil({ fence }: Flight): number {
    const spans = this.#leases.get(this.#executionOf.get(fence) ?? "") ?? [];
    return Math.max(0, ...spans.map(({ untilMs }) => untilMs));
  }

  /** When its execution had asked for its first token. */
  grantedMs(flight: Flight): number {
    const execution = this.#executionOf.get(flight.fence) ?? "";
    return this.#grantedMs.get(execution) ?? flight.beginMs;
  }

  #readFile(name: string): void {
    const file = openSync(join(this.#folder, name), "r");
    try {
      const offset = this.#offsets.get(name) ?? 0;
      const chunk = Buffer.alloc(fstatSync(file).size - offset);
      readSync(file, chunk, 0, chunk.length, offset);
      const whole = chunk.subarray(0, chunk.lastIndexOf("\n") + 1);
      this.#offsets.set(name, offset + whole.length);
      for (const line of whole.toString().split("\n"))
        if (line !== "") this.#add(JSON.parse(line) as Entry);
    } finally {
      closeSync(file);
    }
  }

  #add(entry: Entry): void {
    if (entry.is === "lease") this.#addLease(entry);
    else if (entry.is === "claim") {
      this.claims.push(entry);
      this.#executionOf.set(entry.fence, entry.execution);
    } else if (entry.is === "asked") this.asked.push(entry);
    else if (entry.is === "execution") this.executions.push(entry);
    else if (entry.is === "born") this.born.set(entry.host, entry);
    else if (entry.is === "ack") {
      const fences = this.acks.get(entry.task) ?? new Set();
      this.acks.set(entry.task, fences.add(entry.fence));
    } else this.#addFlight(entry);
  }

  #addLease({ execution, sentMs, leaseMs }: Extract<Entry, { is: "lease" }>): void {
    if (!this.#grantedMs.has(execution)) this.#grantedMs.set(execution, sentMs);
    const spans = this.#leases.get(execution) ?? [];
    this.#leases.set(execution, spans);
    const last = spans.at(-1);
    const untilMs = sentMs + leaseMs;
    if (last !== undefined && last.fromMs <= sentMs && sentMs <= last.untilMs)
      last.untilMs = Math.max(last.untilMs, untilMs);
    else spans.push({ fromMs: sentMs, untilMs });
  }

  #addFlight(entry: Extract<Entry, { is: "begin" | "settling" | "end" }>): void {
    const { task, fence, atMs } = entry;
    const key = `${task}/${fence}`;
    if (entry.is === "begin") {
      const { host, about } = entry;
      const flight: Flight = {
        host,
        task,
        fence,
        ...about,
        beginMs: atMs,
        settlingMs: null,
        endMs: null,
        how: null,
      };
      this.flights.push(flight);
      this.#byClaim.set(key, flight);
      return;
    }
    const flight = this.#byClaim.get(key);
    if (flight === undefined) return;
    if (entry.is === "settling") flight.settlingMs = atMs;
    else {
      flight.endMs = atMs;
      flight.how = entry.how;
    }
  }
}
