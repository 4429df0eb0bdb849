/** The members of a JSON object or array; none where the text is no JSON, or another value. */
export function jsonMembers(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text)) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
}
