import type { Findings } from "./findings";
import type { Flight } from "./flights";
import type { Entry } from "./ledger";
import { waves } from "./plan";

/** A minute around the end of a leg: an instant of it may be fired late, or by the next leg. */
const edgeMs = 90_000;
const minuteMs = 60_000;

/** Batch and wave, as a task's tag has them. */
export function waveTag(batchId: string, wave: number): string {
  return `${batchId}/${String(wave)}`;
}

/** What comes after what: waves, and the instants of the schedule. */
export class JudgeOrder {
  readonly #findings: Findings;
  /** Done tasks by batch and wave. */
  readonly #inWave = new Map<string, number>();
  readonly #instants = new Set<number>();
  readonly #legs: { fromMs: number; untilMs: number }[] = [];

  constructor(findings: Findings) {
    this.#findings = findings;
  }

  began({ kind, tag, task, beginMs }: Flight): void {
    if (kind !== "waved" || tag === null) return;
    const [batchId = "", wave = "1"] = tag.split("/");
    if (wave === "1") return;
    const before = this.#inWave.get(waveTag(batchId, Number(wave) - 1)) ?? 0;
    if (before < waves.tasks)
      this.#findings.found(
        "waves",
        `task ${task} of wave ${tag} began at ${String(beginMs)} when ${String(before)} of the wave before were done`,
      );
  }

  ended({ kind, tag, task }: Extract<Entry, { is: "ended" }>): void {
    if (tag === null) return;
    if (kind === "waved") this.#countInWave(tag);
    if (kind !== "scheduled") return;
    const instant = Date.parse(tag);
    if (this.#instants.has(instant))
      this.#findings.found("schedules", `${tag} has a second task, ${task}`);
    this.#instants.add(instant);
  }

  /** A sign of life: until then the leg lived at least. */
  lived(atMs: number): void {
    const leg = this.#legs.at(-1);
    if (leg !== undefined) leg.untilMs = Math.max(leg.untilMs, atMs);
  }

  legStarted(atMs: number): void {
    this.#legs.push({ fromMs: atMs, untilMs: atMs });
  }

  /** Once, when everything has been told. */
  finish(): void {
    for (const { fromMs, untilMs } of this.#legs) {
      const first = Math.ceil((fromMs + edgeMs) / minuteMs) * minuteMs;
      for (let instant = first; instant < untilMs - edgeMs; instant += minuteMs)
        if (!this.#instants.has(instant))
          this.#findings.found("schedules", `${new Date(instant).toISOString()} has no task`);
    }
  }

  #countInWave(tag: string): void {
    const done = (this.#inWave.get(tag) ?? 0) + 1;
    this.#inWave.set(tag, done);
    const [batchId = "", wave] = tag.split("/");
    if (Number(wave) < waves.count || done < waves.tasks) return;
    for (let each = 1; each <= waves.count; each += 1) this.#inWave.delete(waveTag(batchId, each));
  }
}
