import { realClock } from "../platform/real-clock";

/** Where the steps of a start are shown. */
export interface StepOutput {
  /** Writes one line. */
  readonly say: (line: string) => void;
  /** Writes over the present line; null: no terminal. */
  readonly rewrite: ((text: string) => void) | null;
}

const tickMs = 100;

/**
 * Shows a step by its name while it runs. A terminal shows the seconds, and at the end what it took; elsewhere the name is
 * one line. The error of a step passes as it is.
 */
export async function showStep<Result>(
  { say, rewrite }: StepOutput,
  name: string,
  work: () => Promise<Result>,
): Promise<Result> {
  if (rewrite === null) {
    say(`${name} ..`);
    return work();
  }
  const startedAtMs = realClock.monotonicMs();
  const seconds = (): string => ((realClock.monotonicMs() - startedAtMs) / 1_000).toFixed(1);
  rewrite(`${name} ..`);
  const ticking = setInterval(() => {
    rewrite(`${name} .. ${seconds()} s`);
  }, tickMs);
  try {
    return await work();
  } finally {
    clearInterval(ticking);
    rewrite("");
    say(`${name} .. ${seconds()} s`);
  }
}
