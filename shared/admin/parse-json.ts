import { scanJson } from "../core/json-scan";
import type { ReadResult } from "./object-reader";

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
