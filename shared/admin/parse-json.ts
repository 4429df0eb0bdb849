import { scanJson } from "../core/json-scan";
import type { ReadResult } from "./read-result";

/**
 * The value of a JSON text from outside, which is scanned before it is parsed (json-scan.ts): too deep, too many values and
 * numbers that would be changed are problems. `root` is what the whole is called, `at` stands before the names of its parts.
 * Throws SyntaxError for what isn't JSON.
 */
export function parseJson(
  text: string,
  { root, at = "" }: { readonly root: string; readonly at?: string },
): ReadResult<unknown> {
  const { problems, more } = scanJson(text);
  if (problems.length === 0) return { ok: true, value: JSON.parse(text) as unknown };
  const named = problems.map(({ path, ...rest }) => ({
    field: path === "" ? root : joined(at, path),
    ...rest,
  }));
  return { ok: false, problems: named, ...(more === 0 ? {} : { more }) };
}

function joined(at: string, path: string): string {
  return at === "" || path.startsWith("[") ? at + path : `${at}.${path}`;
}

/**
 * Text that is JSON becomes its value, at most twice (text inside text); a text that isn't stays as it is. JSON that is too
 * deep, too much or has numbers that would be changed is refused.
 */
export function parseMessage(message: unknown): ReadResult<unknown> {
  let value = message;
  for (let round = 0; round < 2; round += 1) {
    if (typeof value !== "string" || !looksLikeJson(value)) break;
    try {
      const read = parseJson(value, { root: "message", at: "message" });
      if (!read.ok) return read;
      ({ value } = read);
    } catch {
      break;
    }
  }
  return { ok: true, value };
}

/** Does a text begin as JSON does that isn't a number or a word? */
export function looksLikeJson(text: string): boolean {
  return /^\s*["{[]/.test(text);
}
