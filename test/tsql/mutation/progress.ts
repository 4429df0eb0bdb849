import { formatDuration } from "../../../shared/core/duration";
import { progressBar } from "../../../shared/terminal/bars";
import { Estimate } from "../../../shared/terminal/estimate";
import type { Verdict } from "./verdict";

/** How far a run is: one line that is drawn again and again, or where that can't be, a line for each tenth. */
export class ProgressLine {
  readonly #total: number;
  readonly #estimate = new Estimate();
  readonly #began = performance.now();
  #tenth = 0;

  constructor(total: number) {
    this.#total = total;
  }

  show(verdicts: ReadonlyMap<number, Verdict>): void {
    const share = verdicts.size / this.#total;
    if (!process.stdout.isTTY) {
      this.#showPlain(verdicts.size);
      return;
    }
    this.#estimate.note(performance.now(), share);
    const left = this.#estimate.leftMs();
    const survived = [...verdicts.values()].filter(({ kind }) => kind === "survived").length;
    const parts = [
      `${progressBar(share, 40)} ${verdicts.size}/${this.#total}`,
      `${survived} survived`,
      formatDuration(performance.now() - this.#began),
      ...(left === null ? [] : [`about ${formatDuration(left)} left`]),
    ];
    process.stdout.write(`\r${parts.join(", ")}\u001b[K`);
  }

  #showPlain(tried: number): void {
    const tenth = Math.floor((tried * 10) / this.#total);
    if (tenth === this.#tenth) return;
    this.#tenth = tenth;
    const elapsed = formatDuration(performance.now() - this.#began);
    process.stdout.write(`${tried} of ${this.#total} edits tried, ${elapsed}\n`);
  }

  end(): void {
    if (process.stdout.isTTY) process.stdout.write("\r\u001b[K");
  }
}
