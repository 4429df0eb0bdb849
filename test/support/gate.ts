/** A door that one side opens and the other waits for: steps of two parties in a known order, without sleeping. */
export interface Gate {
  /** Resolves when the gate is open. */
  readonly opened: Promise<void>;
  open(): void;
}

/** A closed gate. */
export function createGate(): Gate {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {
    opened,
    open: () => {
      open();
    },
  };
}

/** Asks until `isTrue` says so; throws with `what` after `deadlineMs`. */
export async function until(
  what: string,
  isTrue: () => boolean | Promise<boolean>,
  deadlineMs = 10_000,
): Promise<void> {
  const end = performance.now() + deadlineMs;
  while (!(await isTrue())) {
    if (performance.now() > end) throw new Error(`Not within ${String(deadlineMs)} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** The result of `call`, or an error when it takes longer than `ms`. */
export async function within<Result>(ms: number, call: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`No answer within ${String(ms)} ms`));
    }, ms);
  });
  try {
    return await Promise.race([call, late]);
  } finally {
    clearTimeout(timer);
  }
}
