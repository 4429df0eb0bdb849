import type { ReadStream, WriteStream } from "node:tty";
import { drawFrame } from "./live-frame";
import type { LiveState } from "./live-frame";
import type { Theme } from "../terminal/theme";

/** What the user may do in the view. */
export interface LiveKeys {
  /** `+` or `-`. */
  readonly onStep: (step: 1 | -1) => void;
  readonly onQuit: () => void;
  /** Ctrl-C: in raw mode the terminal doesn't make a signal of it. */
  readonly onInterrupt: () => void;
}

/** Where it is drawn. */
export interface LiveTerminal {
  readonly output: WriteStream;
  /** Null: no keyboard there. */
  readonly input: ReadStream | null;
  readonly theme: Theme;
}

// The alternate screen keeps what stood there; a frame between the marks of synchronized output appears at once.
const enter = "\u001b[?1049h\u001b[?25l";
const leave = "\u001b[?25h\u001b[?1049l";
const beginFrame = "\u001b[?2026h\u001b[H";
const endFrame = "\u001b[J\u001b[?2026l";
const clearToLineEnd = "\u001b[K";

/** Draws the run over the whole terminal, on its second screen: what stood there before comes back at the end. */
export class LiveView {
  readonly #terminal: LiveTerminal;
  readonly #keys: LiveKeys;
  #isOpen = false;
  #last: LiveState | null = null;
  /** Keys that are typed before the first picture are ignored: they can't be meant for it. */
  #isShown = false;
  readonly #onResize = (): void => {
    if (this.#last !== null) this.draw(this.#last);
  };
  readonly #onKeys = (bytes: Buffer): void => {
    for (const key of bytes.toString("utf8")) this.#press(key);
  };
  /** The terminal is restored however the process ends. */
  readonly #onExit = (): void => {
    this.close();
  };

  constructor(terminal: LiveTerminal, keys: LiveKeys) {
    this.#terminal = terminal;
    this.#keys = keys;
  }

  get hasKeys(): boolean {
    return this.#terminal.input !== null;
  }

  /** Takes the screen and the keyboard. */
  open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#isShown = false;
    const { output, input } = this.#terminal;
    output.write(enter);
    output.on("resize", this.#onResize);
    process.on("exit", this.#onExit);
    input?.setRawMode(true);
    input?.on("data", this.#onKeys);
    input?.resume();
  }

  /** Draws over the last picture, without clearing it first: nothing flickers. */
  draw(state: LiveState): void {
    if (!this.#isOpen) return;
    this.#last = state;
    const { output, theme } = this.#terminal;
    const size = { columns: output.columns, rows: output.rows };
    const lines = drawFrame(state, size, theme).map((line) => line + clearToLineEnd);
    this.#isShown = true;
    output.write(`${beginFrame}${lines.join("\r\n")}\r\n${endFrame}`);
  }

  /** Gives screen and keyboard back. A second call does nothing. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const { output, input } = this.#terminal;
    output.off("resize", this.#onResize);
    process.off("exit", this.#onExit);
    input?.off("data", this.#onKeys);
    input?.setRawMode(false);
    input?.pause();
    output.write(leave);
  }

  #press(key: string): void {
    if (key === "\u0003") this.#keys.onInterrupt();
    if (!this.#isShown) return;
    if (key === "+" || key === "=") this.#keys.onStep(1);
    else if (key === "-" || key === "_") this.#keys.onStep(-1);
    else if (key === "q" || key === "Q") this.#keys.onQuit();
  }
}
