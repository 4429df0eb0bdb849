import { ProtocolError } from "./bytes";

/** Code page 1252, in which varchar travels under the endpoint's collation. */

/**
 * What bytes 0x80 to 0x9F mean; all others mean the character of their number, five of these too. Written out, because
 * Node 20's TextDecoder takes windows-1252 for ISO 8859-1 [src: nodejs/node #56542].
 */
const middle =
  "\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f" +
  "\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178";
const firstOfMiddle = 0x80;

const characters = Array.from(
  { length: 256 },
  (_, byte) => middle[byte - firstOfMiddle] ?? String.fromCharCode(byte),
);
const bytesOf = new Map(characters.map((character, byte) => [character, byte] as const));

/** The text of bytes as a client sends them. */
export function decodeVarchar(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => characters[byte] ?? "").join("");
}

/**
 * Bytes of a text. A character that the code page lacks is refused: under this collation no column could hold it, and
 * the server would have put a question mark in its place when it was stored.
 */
export function encodeVarchar(text: string): Buffer {
  const bytes = Array.from(text, (character) => {
    const byte = bytesOf.get(character);
    if (byte === undefined) {
      throw new ProtocolError(`${JSON.stringify(character)} isn't in code page 1252 of varchar`);
    }
    return byte;
  });
  return Buffer.from(bytes);
}
