import type { Random } from "../ports/random";

/** Repeats a call while `isWorthIt` says so of its error, within bounds; throws the last error. */
export type Repeat = <Result>(
  call: () => Promise<Result>,
  isWorthIt: (error: unknown) => boolean,
) => Promise<Result>;

/** What repeats need. */
export interface RepeatOptions {
  random: Random;
  sleep: (ms: number) => Promise<void>;
  /** Told why a call is made again, before the pause; default: no listener. */
  onRepeat?: (error: unknown) => void;
  /** Called before each further attempt, after the pause; what it throws ends the repeats. Default: no listener. */
  onTry?: () => void;
  /** Asked when all pauses are over: the call is made again, with the last pause before it, while this says so. Default: never. */
  goesOn?: () => boolean;
}

const pauseMaxMs = 3_000;
/** Waits of one repeated call, in milliseconds; their number bounds the attempts where nothing else does. */
const pausesMs = [20, 50, 200, 1_000, pauseMaxMs] as const;

/**
 * At once with jitter first, because a deadlock's victim may go on at once; then slower, because a failover takes
 * seconds. Jitter: half of each pause is random, so that workers that failed together don't come back together.
 */
export function createRepeat(options: RepeatOptions): Repeat {
  const { goesOn = () => false } = options;
  return async (call, isWorthIt) => {
    for (const pauseMs of pausesWhile(goesOn)) {
      try {
        return await call();
      } catch (error) {
        if (!isWorthIt(error)) throw error;
        options.onRepeat?.(error);
        await options.sleep(pauseMs / 2 + (pauseMs / 2) * options.random.fraction());
        options.onTry?.();
      }
    }
    return call();
  };
}

function* pausesWhile(goesOn: () => boolean): Generator<number> {
  yield* pausesMs;
  while (goesOn()) yield pauseMaxMs;
}
