import { shownName } from "../core/calls-definition";
import { showCount } from "../core/counted";
import { formatDuration } from "../core/duration";
import { describeWork, shareOf } from "./live-frame";
import type { LiveState } from "./live-frame";
import { describeEnd } from "./worker-hosts";
import { showTokens } from "../terminal/limit-texts";
import { printable } from "../terminal/text-width";

/** How often a line comes where there is no screen: a log of a run stays short. */
const lineEveryMs = 5_000;

/** Tells of a new build. */
export const restartedText = "the app was built anew: the workers start again";

/** Lines for outputs that are no terminal. */
export class PlainView {
  readonly #say: (line: string) => void;
  #saidAtMs = Number.NEGATIVE_INFINITY;
  /** By name: ends of workers that were told. */
  readonly #ends = new Map<string, number>();
  #restarts = 0;

  constructor(say: (line: string) => void) {
    this.#say = say;
  }

  /** Writes a line when the last one is old enough, and one for each worker that has ended since. */
  draw(state: LiveState): void {
    for (const worker of state.workers) {
      if (worker.ends > (this.#ends.get(worker.name) ?? 0)) this.#say(describeEnd(worker));
      this.#ends.set(worker.name, worker.ends);
    }
    if (state.restarts > this.#restarts) this.#say(restartedText);
    this.#restarts = state.restarts;
    if (state.elapsedMs - this.#saidAtMs < lineEveryMs) return;
    this.#saidAtMs = state.elapsedMs;
    this.#say(drawLine(state));
  }
}

/**
 * `12 s  41%  3 of 3 files, 37 of 89 blocks  flights.json 1/3  parse-block 4/4, add-totals 8/8  3 dead letters, about 13 s
 * left`: behind the name of a batch its wave. Pure.
 */
export function drawLine({ progress, elapsedMs, leftMs }: LiveState): string {
  const share = shareOf(progress);
  const percent = share === null ? "..%" : `${String(Math.floor(share * 100))}%`;
  const tokens = progress.definitions
    .filter((definition) => definition.held > 0)
    .map((definition) => `${printable(shownName(definition.name))} ${showTokens(definition)}`);
  const dead = progress.definitions.reduce((sum, definition) => sum + definition.dead, 0);
  const left = leftMs === null ? "" : `, about ${formatDuration(leftMs)} left`;
  const waves = progress.batches.map(
    ({ name, wave, waves: count }) => `${printable(name)} ${String(wave)}/${String(count)}`,
  );
  const work = [describeWork(progress), waves.join(", "), tokens.join(", ")];
  const parts = [formatDuration(elapsedMs), percent, ...work];
  const known = parts.filter((part) => part !== "").join("  ");
  return `${known}  ${dead === 1 ? "1 dead letter" : `${showCount(dead)} dead letters`}${left}`;
}
