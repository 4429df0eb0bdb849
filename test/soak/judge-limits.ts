import type { Findings } from "./findings";
import type { Flight } from "./flights";
import { groups, kinds, ratePerSecond, sharedLimit } from "./plan";
import type { KindName, Scale } from "./plan";

/** Starts are counted in windows of this length. */
const rateWindowMs = 30_000;
/** Beyond the rate: a burst, and tasks that were claimed before and begin late. */
const rateSpare = 20;

interface Limit {
  readonly name: string;
  readonly most: number;
}

/** How many run at a time, of everything that is limited; how many start in a time. */
export class JudgeLimits {
  readonly #findings: Findings;
  readonly #startsMax: number;
  readonly #running = new Map<string, number>();
  /** The most that ran at a time, by the name of the limit; groups together. */
  readonly mostSeen = new Map<string, number>();
  #starts: number[] = [];

  constructor(findings: Findings, scale: Scale) {
    this.#findings = findings;
    this.#startsMax = (ratePerSecond(scale) * rateWindowMs) / 1_000 + rateSpare;
  }

  began(flight: Flight): void {
    if (flight.isCovered) this.covered(flight);
    if (flight.kind === "rated") this.#countStart(flight.beginMs);
  }

  /** It counts from now on. */
  covered(flight: Flight): void {
    for (const { name, most } of limitsOf(flight)) {
      const running = (this.#running.get(name) ?? 0) + 1;
      this.#running.set(name, running);
      const [kind = name] = name.split(":");
      this.mostSeen.set(kind, Math.max(this.mostSeen.get(kind) ?? 0, running));
      if (running > most)
        this.#findings.found(
          "limits",
          `${String(running)} of ${name} ran at ${String(flight.beginMs)} where ${String(most)} may (task ${flight.task} on ${flight.worker})`,
        );
    }
  }

  /** It counts no longer. */
  uncovered(flight: Flight): void {
    for (const { name } of limitsOf(flight)) {
      const left = (this.#running.get(name) ?? 0) - 1;
      if (left > 0) this.#running.set(name, left);
      else this.#running.delete(name);
    }
  }

  #countStart(atMs: number): void {
    this.#starts.push(atMs);
    if ((this.#starts[0] ?? atMs) < atMs - rateWindowMs)
      this.#starts = this.#starts.filter((startMs) => startMs >= atMs - rateWindowMs);
    if (this.#starts.length > this.#startsMax)
      this.#findings.found(
        "rate",
        `${String(this.#starts.length)} starts in ${String(rateWindowMs / 1_000)} s before ${String(atMs)}`,
      );
  }
}

function limitsOf({ kind, tag }: Flight): Limit[] {
  const own: Limit[] = [{ name: kind, most: kinds[kind as KindName].limit }];
  if (kind === "plain" || kind === "grouped")
    own.push({ name: sharedLimit.name, most: sharedLimit.limit });
  if (kind === "grouped") own.push({ name: `group:${String(tag)}`, most: groups.slots });
  return own;
}
