const barWidth = 24;

/** What people see while it runs: one line that is written over on a terminal, a line per step elsewhere. */
export class ProgressLine {
  readonly #write: (text: string) => void;
  readonly #isTerminal: boolean;
  #step = "";

  constructor(write: (text: string) => void, isTerminal: boolean) {
    this.#write = write;
    this.#isTerminal = isTerminal;
  }

  /** `share` of all the time, 0 to 1; `what` is being done in `step`. */
  show(share: number, step: string, what: string): void {
    if (!this.#isTerminal) {
      if (step !== this.#step) this.#write(`${step}\n`);
      this.#step = step;
      return;
    }
    const done = Math.round(Math.min(1, Math.max(0, share)) * barWidth);
    const bar = `${"█".repeat(done)}${"░".repeat(barWidth - done)}`;
    this.#write(`\r\u001b[2K${bar} ${step} ${what}`.slice(0, 120));
  }

  /** Makes room for the next output. */
  clear(): void {
    if (this.#isTerminal) this.#write("\r\u001b[2K");
  }
}
