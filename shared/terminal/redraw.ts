import { cutToWidth } from "./text-width";

/** Keeps lines that are too long from taking two. */
const [wrapOff, wrapOn] = ["\u001b[?7l", "\u001b[?7h"];
const [clearScreen, toTop, restOfLine, restOfScreen] = [
  "\u001b[2J",
  "\u001b[H",
  "\u001b[K",
  "\u001b[J",
];

/** The part of a terminal's stream that is used. */
interface Terminal {
  readonly columns: number;
  readonly rows: number;
  write(text: string): unknown;
}

/** Draws lines over what stood on the screen before, without a flash between; lines without room are counted. */
export class Redraw {
  readonly #stream: Terminal;
  #hasDrawn = false;

  constructor(stream: Terminal) {
    this.#stream = stream;
  }

  columns(): number {
    return this.#stream.columns;
  }

  draw(lines: readonly string[]): void {
    const { rows, columns } = this.#stream;
    // The last line stays free for the cursor.
    const room = Math.max(rows - 1, 2);
    const left = lines.length - room + 1;
    const more = `.. ${String(left)} more lines; a larger terminal shows them.`;
    const shown = left > 1 ? [...lines.slice(0, room - 1), cutToWidth(more, columns)] : lines;
    const start = this.#hasDrawn ? toTop : clearScreen + toTop;
    this.#hasDrawn = true;
    const body = shown.map((line) => line + restOfLine).join("\n");
    this.#stream.write(`${wrapOff}${start}${body}\n${restOfScreen}${wrapOn}`);
  }
}
