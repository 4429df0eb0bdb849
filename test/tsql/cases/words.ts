/** Is it parseArgs that found a word on the command line that it doesn't know? */
export function isWordError(error: unknown): error is Error {
  return (
    error instanceof Error &&
    "code" in error &&
    typeof error.code === "string" &&
    error.code.startsWith("ERR_PARSE_ARGS")
  );
}
