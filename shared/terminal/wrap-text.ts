import { textWidth } from "./text-width";

/** The text as lines of at most `width` cells, at least 1, broken between words; a longer word is broken inside. */
export function wrapText(text: string, width: number): string[] {
  const room = Math.max(1, width);
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ").flatMap((long) => piecesOf(long, room))) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (textWidth(longer) <= room) {
      line = longer;
      continue;
    }
    lines.push(line);
    line = word;
  }
  return [...lines, line];
}

/** A word in parts of at most `room` cells; a character of two cells may stand alone in one. */
function piecesOf(word: string, room: number): string[] {
  if (textWidth(word) <= room) return [word];
  const pieces = [""];
  for (const character of word) {
    const last = pieces.at(-1) ?? "";
    if (last !== "" && textWidth(last + character) > room) pieces.push(character);
    else pieces[pieces.length - 1] = last + character;
  }
  return pieces;
}
