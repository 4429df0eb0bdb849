/**
 * The system's code of an error, `ENOENT` say; undefined where it has none. Looks at the shape: an error that comes from
 * another realm (a sandbox of tests, a worker) is no `instanceof Error` here.
 */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
