import { isForLater } from "../core/errors";
import { messageOf } from "../core/foreign-value";
import { formatDuration } from "../core/duration";
import type { Limit } from "../ports/task-store";
import { realClock, sleep } from "../platform/real-clock";
import { Estimate } from "../terminal/estimate";
import { EventView } from "./dev-events";
import type { DevEvent, DoneEvent } from "./dev-events";
import { describeFailing, shareOf } from "./live-frame";
import type { LiveState } from "./live-frame";
import { LiveView } from "./live-view";
import type { LiveKeys } from "./live-view";
import type { LocalRun } from "./local-run";
import { PlainView, restartedText } from "./plain-view";
import { judge, ProgressReader } from "./progress";
import type { Progress } from "./progress";
import type { StartOptions } from "./start-options";
import { formatTable } from "../terminal/text-table";
import { widthOf } from "../terminal/terminal-width";
import { chooseTheme } from "../terminal/theme";

/** The run that is followed, and how its user may end it. */
export interface FollowOptions {
  readonly run: LocalRun;
  readonly options: StartOptions;
  /** Aborted: the run is to end. */
  readonly signal: AbortSignal;
  /** Monotonic. */
  readonly startedAtMs: number;
  readonly say: (line: string) => void;
  /** Null: the run is told in lines for people. */
  readonly tell: ((event: DevEvent) => void) | null;
  /** Aborts the signal. */
  readonly interrupt: () => void;
}

/** How a run ended. */
export type RunEnd = "good" | "bad" | "interrupted";

/** After this time without an answer to a read the user is told. */
const silentAfterMs = 3_000;
const lookEveryMs = 330;
/** `--once` gives up then. */
const onceMaxMs = 300_000;
/** So many looks may fail in a row for a reason that no wait mends. */
const failuresMax = 10;
/** Settled twice in a row: an event may be between the queue and the database at one look. */
const settledLooks = 2;
/** How long the effect of a key is shown. */
const noticeMs = 2_000;
const limitMax = 1_000;
/** Width of tables where the output has none. */
const plainWidth = 100;

/** Shows the run until it ends: with `--once` when it is done, else when its user ends it. */
export async function followRun(options: FollowOptions): Promise<RunEnd> {
  return new Follower(options).follow();
}

class Follower {
  readonly #options: FollowOptions;
  readonly #reader: ProgressReader;
  readonly #estimate = new Estimate();
  readonly #lines: PlainView | EventView;
  readonly #live: LiveView | null;
  #settledInARow = 0;
  /** Files at the last summary; null: there was none yet. */
  #summedUpFiles: number | null = null;
  #notice: { text: string; untilMs: number } | null = null;
  /** Of the paced definition, as last read; undefined: not known yet. */
  #limit: Limit | undefined;
  #failuresInARow = 0;
  #restarts = 0;
  #toldFailing: ReadonlyMap<string, string> = new Map();
  #isSilent = false;
  #lastProgress: Progress | null = null;

  constructor(options: FollowOptions) {
    this.#options = options;
    this.#reader = new ProgressReader(options.run);
    const { say, tell, interrupt } = options;
    this.#lines = tell === null ? new PlainView(say) : new EventView(tell);
    const onStep = (step: 1 | -1): void => void this.#step(step);
    this.#live =
      tell === null ? openLiveView({ onStep, onQuit: interrupt, onInterrupt: interrupt }) : null;
  }

  async follow(): Promise<RunEnd> {
    const { run, options, signal } = this.#options;
    const broken = run.broken.then((sentence) => {
      // Services end during an orderly end, too.
      if (!signal.aborted) throw new Error(sentence);
      return undefined;
    });
    broken.catch(() => undefined);
    this.#live?.open();
    try {
      while (!signal.aborted) {
        const end = await Promise.race([this.#tryLook(), broken]);
        if (end !== undefined && options.isOnce) return end;
        await sleep(lookEveryMs, signal);
        await Promise.race([broken, Promise.resolve()]);
      }
      return "interrupted";
    } finally {
      this.#live?.close();
    }
  }

  /**
   * One look; the run's end when it is done. An outage of the database is waited for, however long it takes: the queues with
   * their messages live as long as this process.
   */
  async #tryLook(): Promise<"good" | "bad" | undefined> {
    const { options, startedAtMs, say } = this.#options;
    const silence = setTimeout(() => {
      this.#showSilence();
    }, silentAfterMs);
    try {
      const end = await this.#look();
      if (end !== undefined) return end;
    } catch (error) {
      this.#noteFailure(error);
    } finally {
      clearTimeout(silence);
    }
    const elapsedMs = realClock.monotonicMs() - startedAtMs;
    if (!options.isOnce || elapsedMs <= onceMaxMs) return undefined;
    say(`Not done after ${formatDuration(onceMaxMs)}.`);
    return "bad";
  }

  async #look(): Promise<"good" | "bad" | undefined> {
    const progress = await this.#reader.read();
    this.#noteAnswer(progress);
    this.#noteFailing();
    const landed = progress.files?.landed ?? 0;
    const elapsedMs = realClock.monotonicMs() - this.#options.startedAtMs;
    this.#settledInARow = progress.isSettled ? this.#settledInARow + 1 : 0;
    if (this.#settledInARow >= settledLooks) {
      if (this.#summedUpFiles === landed) return undefined;
      const end = await this.#sumUp(progress, elapsedMs);
      this.#summedUpFiles = landed;
      return end;
    }
    if (this.#summedUpFiles !== null && landed > this.#summedUpFiles) {
      await this.#beginAgain();
    }
    if (this.#summedUpFiles === null) this.#draw(progress, elapsedMs);
    return undefined;
  }

  #noteAnswer(progress: Progress): void {
    this.#failuresInARow = 0;
    if (this.#isSilent) {
      this.#notice = null;
      if (this.#live === null) this.#options.say("the database answers again");
    }
    this.#isSilent = false;
    this.#lastProgress = progress;
  }

  /** The picture has a line for each failing timer; where there is none, each new failure is told once. */
  #noteFailing(): void {
    const { run, say } = this.#options;
    const failing = run.failingTimers();
    for (const timer of this.#live === null ? failing : [])
      if (this.#toldFailing.get(timer[0]) !== timer[1]) say(describeFailing(timer));
    this.#toldFailing = new Map(failing);
  }

  /** Throws what a user has to mend in the app or in this run. */
  #noteFailure(error: unknown): void {
    if (this.#options.signal.aborted) return;
    if (isForLater(error)) {
      this.#failuresInARow = 0;
      this.#showSilence();
      return;
    }
    this.#failuresInARow += 1;
    if (this.#failuresInARow >= failuresMax) throw error;
  }

  /** A look has no answer yet: the old picture must not look like a new one. */
  #showSilence(): void {
    if (this.#isSilent) return;
    this.#isSilent = true;
    const text = "the database doesn't answer: still trying";
    this.#notice = { text, untilMs: Number.POSITIVE_INFINITY };
    if (this.#live === null || this.#lastProgress === null) this.#options.say(`${text} ..`);
    else this.#draw(this.#lastProgress, realClock.monotonicMs() - this.#options.startedAtMs);
  }

  #draw(progress: Progress, elapsedMs: number): void {
    const { run } = this.#options;
    this.#noteRestart(run.restarts());
    const pacedDefinition = run.sample?.pacedDefinition ?? null;
    this.#limit = progress.definitions.find(({ name }) => name === pacedDefinition)?.limit;
    const share = shareOf(progress);
    if (share !== null) this.#estimate.note(elapsedMs, share);
    const nowMs = realClock.monotonicMs();
    const state: LiveState = {
      title: run.sample?.title ?? run.app.name,
      progress,
      elapsedMs,
      leftMs: share === null ? null : this.#estimate.leftMs(),
      pageUrl: run.pageUrl(),
      lastLine: run.log.last(),
      notice: this.#notice !== null && nowMs < this.#notice.untilMs ? this.#notice.text : null,
      workers: run.workers(),
      failingTimers: run.failingTimers(),
      restarts: run.restarts(),
      pacedDefinition,
      hasKeys: this.#live?.hasKeys ?? false,
    };
    (this.#live ?? this.#lines).draw(state);
  }

  /** A restart is shown for a while. */
  #noteRestart(restarts: number): void {
    if (restarts === this.#restarts) return;
    this.#restarts = restarts;
    const untilMs = realClock.monotonicMs() + noticeMs;
    this.#notice = { text: restartedText, untilMs };
  }

  async #sumUp(progress: Progress, elapsedMs: number): Promise<"good" | "bad"> {
    const { run } = this.#options;
    // All that may fail comes first: after an outage it is done again as a whole.
    const results = await this.#reader.readResults();
    const expected = run.sample?.expectedDeadLetters ?? [];
    const verdict = judge(progress, { expected, poisoned: await run.queue.poisoned() });
    await run.mark("finished");
    this.#live?.close();
    this.#tellSums({
      event: "done",
      elapsedMs: Math.round(elapsedMs),
      files: progress.files?.imported ?? 0,
      tasks: progress.definitions.reduce((sum, { done }) => sum + done, 0),
      deadLetters: progress.deadLetters,
      deadLettersExpected: expected.length,
      problems: verdict.problems,
      results,
      dashboard: run.pageUrl(),
    });
    return verdict.isGood ? "good" : "bad";
  }

  #tellSums(sums: DoneEvent): void {
    const { options, say, tell } = this.#options;
    if (tell !== null) {
      tell(sums);
      return;
    }
    const width = Math.max(40, widthOf(process.stdout) ?? plainWidth);
    for (const table of sums.results) {
      for (const line of formatTable(table, width)) say(line);
      say("");
    }
    say(
      `Done in ${formatDuration(sums.elapsedMs)}: ${String(sums.files)} files, ${String(sums.tasks)} tasks, ` +
        `${String(sums.deadLetters.length)} dead letters (${String(sums.deadLettersExpected)} expected).`,
    );
    for (const problem of sums.problems) say(`  ${problem}`);
    say(`Dashboard: ${sums.dashboard ?? "none"}`);
    if (!options.isOnce) say("It runs on: drop files into landing/, Ctrl-C ends.");
  }

  /** Files landed after the end. */
  async #beginAgain(): Promise<void> {
    this.#summedUpFiles = null;
    await this.#options.run.mark("running");
    this.#live?.open();
  }

  async #step(step: 1 | -1): Promise<void> {
    const { run } = this.#options;
    const definition = run.sample?.pacedDefinition;
    // From a limit that isn't known, or from none, no step leads anywhere.
    if (definition === undefined || this.#limit === undefined) return;
    const untilMs = realClock.monotonicMs() + noticeMs;
    if (this.#limit === null) {
      this.#notice = { text: `${definition} has no limit: \`taskgate limit\` sets one`, untilMs };
      return;
    }
    const limit = Math.min(limitMax, Math.max(0, this.#limit + step));
    this.#limit = limit;
    try {
      await run.admin.setLimit({ definition, limit, changedBy: "taskgate dev" });
      this.#notice = { text: `the limit of ${definition} is ${String(limit)} now`, untilMs };
    } catch (error) {
      const reason = messageOf(error);
      this.#notice = { text: `the limit could not be changed: ${reason}`, untilMs };
    }
  }
}

/** Null without a screen: a pipe, a file, a dumb terminal. */
function openLiveView(keys: LiveKeys): LiveView | null {
  const { stdin, stdout } = process;
  if (!stdout.isTTY || process.env["TERM"] === "dumb") return null;
  const theme = chooseTheme(stdout, process.env);
  return new LiveView({ output: stdout, input: stdin.isTTY ? stdin : null, theme }, keys);
}
