/** Runs timer-triggered functions on their NCRONTAB schedules, in UTC, never two at a time. */
import { Cron } from "croner";
import { resolveSettings, type AppSettings } from "./app-settings";
import type { RegisteredFunction } from "./core-api";
import { triggerOf, type Invoker } from "./invoke";
import type { Listener } from "./listener";

/** What a timer needs. */
export interface TimerListenerOptions {
  readonly target: RegisteredFunction;
  readonly settings: AppSettings;
  readonly invoker: Invoker;
  /** A run has ended; `error`: what it threw, undefined for one that went well. */
  readonly onEnd?: ((error: unknown) => void) | undefined;
}

/** setTimeout takes 24.8 days at most; a longer wait is made of days. */
const WAIT_MAX_MS = 86_400_000;
/** A run that starts later than this was missed: the machine slept or the event loop stood still. */
const PAST_DUE_MS = 1_000;
const FIELDS = ["second", "minute", "hour", "day of month", "month", "day of week"] as const;

/**
 * Turns a binding's schedule into one that tells the next run: six NCRONTAB fields, or five without
 * seconds. Both day fields must match (other cron dialects take either). Throws for what Azure's
 * parser does not know (`L`, `W`, `#`, `?`, weekday 7) and for time spans.
 */
export function parseSchedule(text: string): Cron {
  const fields = text.trim().split(/\s+/);
  if (fields.length === 5) fields.unshift("0");
  if (fields.length !== FIELDS.length) {
    throw new Error(
      `The schedule "${text}" is not a cron expression of six fields (${FIELDS.join(", ")}). Time ` +
        "spans work on dedicated plans only and not here.",
    );
  }
  fields.forEach((field, index) => {
    // Names of months and days contain L and W (JUL, WED), so they are taken out first.
    const rest = field.replaceAll(/[A-Z]{3,9}/gi, "");
    const weekday7 = index === 5 && /(?:^|[,-])7(?:$|[,/-])/.test(field);
    if (/[LW#?]/i.test(rest) || weekday7) {
      throw new Error(
        `The schedule "${text}" has "${field}" as ${FIELDS[index] ?? "field"}: not NCRONTAB.`,
      );
    }
  });
  const options = { mode: "6-part", domAndDow: true, timezone: "UTC", paused: true } as const;
  return new Cron(fields.join(" "), options);
}

/** A timer trigger; nothing runs before `start()`. */
export class TimerListener implements Listener {
  readonly #options: TimerListenerOptions;
  readonly #schedule: Cron;
  readonly #isMonitored: boolean;
  readonly #runOnStartup: boolean;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #isStopped = false;
  #last = new Date(0);

  /** Throws for a bad schedule. */
  constructor(options: TimerListenerOptions) {
    this.#options = options;
    const { binding } = triggerOf(options.target);
    const text = typeof binding["schedule"] === "string" ? binding["schedule"] : "";
    this.#schedule = parseSchedule(resolveSettings(text, options.settings));
    this.#runOnStartup = binding["runOnStartup"] === true;
    this.#isMonitored =
      typeof binding["useMonitor"] === "boolean"
        ? binding["useMonitor"]
        : isMinuteOrLonger(this.#schedule);
  }

  start(): void {
    if (this.#runOnStartup) this.#run(false, new Date());
    else this.#wait();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  async idle(): Promise<void> {
    await this.#running;
  }

  #wait(): void {
    const due = this.#schedule.nextRun(new Date());
    // A schedule such as 30 February never comes.
    if (due !== null && !this.#isStopped) this.#waitUntil(due);
  }

  #waitUntil(due: Date): void {
    const remainingMs = due.getTime() - Date.now();
    if (remainingMs <= 0) {
      this.#run(-remainingMs > PAST_DUE_MS, due);
      return;
    }
    this.#timer = setTimeout(
      () => {
        this.#waitUntil(due);
      },
      Math.min(remainingMs, WAIT_MAX_MS),
    );
  }

  /** The next wait begins when the run has ended, so runs never overlap; as on Azure. */
  #run(isPastDue: boolean, due: Date): void {
    if (this.#isStopped) return;
    const { target, invoker, onEnd } = this.#options;
    const status = this.#isMonitored ? this.#status(due) : null;
    const info = { Schedule: { AdjustForDST: true }, ScheduleStatus: status, IsPastDue: isPastDue };
    this.#last = due;
    this.#running = invoker
      .invoke(target, { data: { json: JSON.stringify(info) } })
      // Logged by the invoker. Azure does not repeat a failed timer either.
      .then(() => onEnd?.(undefined), onEnd)
      .then(() => {
        this.#wait();
      });
  }

  #status(due: Date): { Last: string; Next: string; LastUpdated: string } {
    const next = this.#schedule.nextRun(due) ?? due;
    const last = this.#last.toISOString();
    return { Last: last, Next: next.toISOString(), LastUpdated: last };
  }
}

function isMinuteOrLonger(schedule: Cron): boolean {
  const [first, second] = schedule.nextRuns(2);
  if (first === undefined || second === undefined) return true;
  return second.getTime() - first.getTime() >= 60_000;
}
