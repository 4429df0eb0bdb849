/** npm ends with its shell at once, and passes no SIGTERM on: to have lost the parent is all that its program hears of it. */
const parentLookMs = 250;

/** Tells once that the npm which started this process is gone; the returned function ends the watch. */
export function watchNpm(onGone: () => void): () => void {
  if (process.env["npm_command"] === undefined) return () => undefined;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    onGone();
  }, parentLookMs).unref();
  return () => {
    clearInterval(timer);
  };
}
