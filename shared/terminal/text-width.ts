/** Text in terminals: what a cell can show and how many cells a text takes. Pure. */

/** Built from a text because a control character in a pattern is mostly a mistake; here it is meant. */
const escapeForm = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, "y");
/** East Asian wide characters and emoji take two cells; close enough for cutting lines. */
const wideForm =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u;
const zeroForm = /\p{Mark}|\u200d|\ufe0f/u;

/** Text from outside on one line: it can't move the cursor, start a line of its own or turn its direction. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, " ");
}

/** The same for a text of several lines, which stay. */
export function printableLines(text: string): string {
  return text.split("\n").map(printable).join("\n");
}

const unseenForm = new RegExp(
  `${String.fromCharCode(27)}\\[(?:[0-2]|3[126])m|[\\p{Cc}\\p{Bidi_Control}]`,
  "gu",
);

/** A text that is made of outside texts and of ours: lines, tabs and the colours of `Theme` stay, no other sign that isn't seen. */
export function printableText(text: string): string {
  return text.replaceAll(unseenForm, (sign) =>
    sign.length > 1 || sign === "\n" || sign === "\t" ? sign : " ",
  );
}

/** The same JSON without the signs that JSON may have as they are and that a terminal acts on. */
export function printableJson(json: string): string {
  return json.replaceAll(
    /[\u007f-\u009f\p{Bidi_Control}]/gu,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Cells that a text takes; colours take none. */
export function textWidth(text: string): number {
  let width = 0;
  for (const piece of pieces(text)) width += piece.width;
  return width;
}

/** The text cut to `width` cells, `..` at its end when something is missing; colours are kept and ended. */
export function cutToWidth(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  const room = Math.max(0, width - 2);
  let result = "";
  let used = 0;
  let hasColour = false;
  for (const piece of pieces(text)) {
    if (piece.width > 0 && used + piece.width > room) break;
    result += piece.text;
    used += piece.width;
    hasColour ||= piece.isColour;
  }
  return `${result}${"..".slice(0, Math.max(0, width - used))}${hasColour ? "\u001b[0m" : ""}`;
}

/** Filled with blanks up to `width` cells; longer texts stay as they are. */
export function padToWidth(text: string, width: number, side: "left" | "right" = "right"): string {
  const blanks = " ".repeat(Math.max(0, width - textWidth(text)));
  return side === "right" ? text + blanks : blanks + text;
}

interface Piece {
  readonly text: string;
  readonly width: number;
  readonly isColour: boolean;
}

function* pieces(text: string): Generator<Piece> {
  let at = 0;
  while (at < text.length) {
    escapeForm.lastIndex = at;
    const colour = escapeForm.exec(text)?.[0];
    if (colour !== undefined) {
      yield { text: colour, width: 0, isColour: true };
      at += colour.length;
      continue;
    }
    const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
    const width = zeroForm.test(character) ? 0 : wideForm.test(character) ? 2 : 1;
    yield { text: character, width, isColour: false };
    at += character.length;
  }
}
