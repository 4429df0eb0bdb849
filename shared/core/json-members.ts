/** The members of a JSON object or array; none where the text is no JSON, or another value. */
export function jsonMembers(text: string): Readonly<Record<string, unknown>> {
  return Object(jsonValue(text)) as Readonly<Record<string, unknown>>;
}

/** The value of a text; undefined: it is no JSON. */
export function jsonValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
