import type { HintOptions, WakeUp } from "../../ports/wake-up";

/** A worker of this process, as far as hints go. */
export interface WokenWorker {
  readonly isBusy: boolean;
  wake(): void;
  wakeIn(ms: number): void;
}

/** Where hints of a resident process go. */
export interface ResidentWakeUpOptions {
  /** To all other processes: functions by their queue, resident ones by a notification. */
  readonly others: WakeUp;
  /** To resident processes only. */
  readonly residents: WakeUp;
}

/**
 * The hints of a resident process. Its own worker hears of them at once. Others are told as well where one worker may not
 * be enough: resident processes when there are several tasks, functions when the own worker has tasks already.
 */
export class ResidentWakeUp implements WakeUp {
  readonly #options: ResidentWakeUpOptions;
  readonly #workers = new Map<string, WokenWorker>();
  /** Told of the next instant of a schedule. */
  onSchedule: (inMs: number) => void = () => undefined;

  constructor(options: ResidentWakeUpOptions) {
    this.#options = options;
  }

  /** Hints of this definition are for that worker, too. */
  serve(definition: string, worker: WokenWorker): void {
    this.#workers.set(definition, worker);
  }

  async hint(definition: string, options: HintOptions = {}): Promise<void> {
    const worker = this.#workers.get(definition);
    if (worker === undefined) return this.#options.others.hint(definition, options);
    const { inMs = 0, forSchedule = false, isForMore = false, tasks } = options;
    if (isForMore) return this.#options.others.hint(definition, options);
    if (forSchedule) {
      this.onSchedule(inMs);
      return;
    }
    if (inMs > 0) {
      worker.wakeIn(inMs);
      return;
    }
    const isBusy = worker.isBusy;
    worker.wake();
    if (isBusy) return this.#options.others.hint(definition, options);
    if (tasks !== 1) return this.#options.residents.hint(definition, options);
  }
}
