import { onAbort } from "../../core/on-abort";

/**
 * So many reads of an app's API at once; others wait in the order they came. Workers of the same process share its few
 * connections: many readers, or one that asks and hangs up again and again, would else keep all of them.
 */
export class ReadTurns {
  readonly #atOnce: number;
  readonly #waiting = new Set<() => void>();
  #running = 0;

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  /** Runs `read` in its turn. A request that is answered without it, by `isOver`, is not asked for any more: this throws its reason. */
  async run<Result>(read: () => Promise<Result>, isOver: AbortSignal): Promise<Result> {
    await this.#turn(isOver);
    try {
      return await read();
    } finally {
      this.#running -= 1;
      const [next] = this.#waiting;
      next?.();
    }
  }

  async #turn(isOver: AbortSignal): Promise<void> {
    isOver.throwIfAborted();
    if (this.#running < this.#atOnce) {
      this.#running += 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const begin = (): void => {
        this.#waiting.delete(begin);
        forget();
        this.#running += 1;
        resolve();
      };
      const forget = onAbort(isOver, () => {
        this.#waiting.delete(begin);
        reject(isOver.reason as Error);
      });
      this.#waiting.add(begin);
    });
  }
}
