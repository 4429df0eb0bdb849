/**
 * A resident worker from its options to its end: the composition root of `taskgate work`. The app's own gate does the work,
 * with the app's settings.
 */
import { loadGate } from "./load-gate";

/** How the process works. */
export interface ResidentRunOptions {
  /** The folder with package.json. */
  readonly appRoot: string;
  readonly definitions: readonly string[] | null;
  readonly concurrency: number | null;
  readonly pollMs: number;
  readonly graceMs: number;
  /** Prints a line for people. */
  readonly say: (line: string) => void;
}

/** The signals that end a resident worker. */
const endings = ["SIGTERM", "SIGINT"] as const;

/**
 * Works until SIGTERM or SIGINT, then gives back and ends. A second signal waits for no handler. Throws what keeps the
 * work from beginning.
 */
export async function runResident(options: ResidentRunOptions): Promise<void> {
  const { appRoot, definitions, concurrency, pollMs, graceMs, say } = options;
  const gate = await loadGate(appRoot, say);
  const ending = new AbortController();
  const onSignal = (): void => {
    if (ending.signal.aborted) void gate.end();
    ending.abort();
  };
  for (const signal of endings) process.on(signal, onSignal);
  try {
    await gate.work({
      signal: ending.signal,
      pollMs,
      graceMs,
      ...(definitions === null ? {} : { definitions }),
      ...(concurrency === null ? {} : { concurrency }),
    });
  } finally {
    await gate.end();
    for (const signal of endings) process.off(signal, onSignal);
  }
}
