/** What a text of base64 holds, as UTF-8; null: it is no base64, as a host reads it. */
export function readBase64Text(text: string): string | null {
  const isBase64 = text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
  return isBase64 ? Buffer.from(text, "base64").toString("utf8") : null;
}
