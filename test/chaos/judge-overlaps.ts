import type { Book, Flight } from "./book";
import type { Halt } from "./hosts";
import { groupSlots, sharedName } from "./plan";
import type { Verdict } from "./verdict";

/** A limit, and when the call that set it was sent and was answered. */
export interface LimitChange {
  readonly limit: number;
  readonly beforeMs: number;
  afterMs: number;
}

/** By the name of a definition or of a shared limit, in their order. */
export type LimitChanges = ReadonlyMap<string, readonly LimitChange[]>;

export interface OverlapFacts {
  readonly book: Book;
  readonly halts: readonly Halt[];
  readonly limits: LimitChanges;
  /** Begins before this instant were judged already; 0: all are, for the last time, and counted. */
  readonly sinceMs: number;
}

/** One limit of a flight: a name, how many may be in it, and when the flight leaves it. */
interface Place {
  readonly rule: "limit" | "one holder";
  readonly name: string;
  readonly max: (running: readonly Flight[], atMs: number) => number;
  readonly leavesMs: number;
}

/**
 * The limit and the one holder over the ledger: at each begin, how many run in each place whose leases surely hold. A
 * flight whose lease may be over isn't counted: its handler may still run, which is the stated remainder. One of a killed
 * host ended with its host; one of a frozen host goes on while its lease does.
 */
export function judgeOverlaps(facts: OverlapFacts, verdict: Verdict): void {
  const { book, sinceMs } = facts;
  const killedMs = new Map(
    facts.halts.filter(({ kind }) => kind !== "frozen").map((halt) => [halt.host, halt.fromMs]),
  );
  const active = new Map<string, { flight: Flight; leavesMs: number }[]>();
  for (const flight of book.flights) {
    const atMs = flight.beginMs;
    const isSure = book.isCovered(flight, atMs);
    const diedMs = killedMs.get(flight.host) ?? Number.POSITIVE_INFINITY;
    const coveredUntilMs = book.coveredUntil(flight);
    for (const { rule, name, max, leavesMs } of placesOf(facts, flight)) {
      const others = (active.get(name) ?? []).filter((other) => other.leavesMs > atMs);
      active.set(name, others);
      others.push({ flight, leavesMs: Math.min(leavesMs, diedMs, coveredUntilMs) });
      if (!isSure || atMs < sinceMs) continue;
      const running = others
        .filter((other) => other.leavesMs > atMs && book.isCovered(other.flight, atMs))
        .map((other) => other.flight);
      const allowed = max(running, atMs);
      if (sinceMs === 0) verdict.check(rule);
      if (running.length > allowed)
        verdict.broken(rule, `${name}: ${describe(running, atMs)}; allowed ${String(allowed)}`);
    }
  }
}

function placesOf({ book, limits }: OverlapFacts, flight: Flight): Place[] {
  const { definition, group, task, settlingMs } = flight;
  const endMs = flight.endMs ?? Number.POSITIVE_INFINITY;
  // Its completion frees its slot and its claim; the token goes back later, when the handler has settled.
  const leavesMs = settlingMs ?? endMs;
  const limited = [definition, sharedName].map((name): Place => ({
    rule: "limit",
    name,
    max: (running, atMs) => allowed(book, { changes: limits.get(name) ?? [], running, atMs }),
    leavesMs: endMs,
  }));
  const one: Place = { rule: "one holder", name: `task ${task}`, max: () => 1, leavesMs };
  if (group === null) return [...limited, one];
  const slots = groupSlots[definition] ?? 1;
  const name = `group ${definition}/${group}`;
  return [...limited, one, { rule: "limit", name, max: () => slots, leavesMs }];
}

/** The greatest limit in force since the oldest of them asked for its token. */
function allowed(
  book: Book,
  now: { changes: readonly LimitChange[]; running: readonly Flight[]; atMs: number },
): number {
  const { changes, running, atMs } = now;
  const oldestMs = Math.min(...running.map((flight) => book.grantedMs(flight)));
  const inForce = changes.filter(
    ({ beforeMs }, index) =>
      beforeMs <= atMs && (changes[index + 1]?.afterMs ?? Number.POSITIVE_INFINITY) >= oldestMs,
  );
  return Math.max(0, ...inForce.map(({ limit }) => limit));
}

function describe(running: readonly Flight[], atMs: number): string {
  const each = running.map(
    ({ host, task, fence, beginMs }) =>
      `task ${task} fence ${fence} on ${host} for ${(atMs - beginMs).toFixed(1)} ms`,
  );
  return `${String(running.length)} run at ${atMs.toFixed(0)} (${each.join("; ")})`;
}
