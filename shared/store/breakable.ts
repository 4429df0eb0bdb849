/** Waits for a statement's answer. An aborted one is waited for, too, after `cancel` has told the server to break it off. */
export async function breakable<Result>(
  answer: Promise<Result>,
  signal: AbortSignal | undefined,
  cancel: () => Promise<void>,
): Promise<Result> {
  let cancelled: Promise<void> | undefined;
  const abort = (): void => {
    cancelled = cancel();
  };
  signal?.addEventListener("abort", abort, { once: true });
  try {
    return await answer;
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener("abort", abort);
    // A word to the server that is still under way would hit the next statement of this connection.
    await cancelled;
  }
}
