/**
 * Reads JSON as the Functions host and TypeScript's compiler read their files: with comments, with commas behind the last
 * member, with a byte order mark. Throws SyntaxError where the text is no JSON otherwise.
 */
export function parseJsonWithComments(text: string): unknown {
  return JSON.parse(withoutComments(text));
}

/** A text, a comment, or a comma behind which only blanks and comments stand before a bracket. */
const parts =
  /"(?:[^"\\]|\\.)*"|\/\/[^\n]*|\/\*[^]*?\*\/|,(?=(?:\s|\/\/[^\n]*|\/\*[^]*?\*\/)*[}\]])/g;

function withoutComments(text: string): string {
  return text
    .replace(/^\uFEFF/, "")
    .replaceAll(parts, (part) => (part.startsWith('"') ? part : ""));
}
