import { isCallsDefinition, shownName } from "../core/calls-definition";
import { showCount } from "../core/counted";
import { formatDuration } from "../core/duration";
import { firstLine } from "../core/text";
import type { DefinitionStatus } from "../ports/task-store";
import { progressBar } from "../terminal/bars";
import { drawTokens } from "../terminal/limit-texts";
import type { BatchProgress, Progress } from "./progress";
import { cutToWidth, padToWidth, printable } from "../terminal/text-width";
import type { Theme } from "../terminal/theme";
import type { WorkerState } from "./worker-hosts";

/** What a picture of the run is drawn from. */
export interface LiveState {
  readonly title: string;
  readonly progress: Progress;
  readonly elapsedMs: number;
  /** Null: nothing to go by yet. */
  readonly leftMs: number | null;
  /** Null: no function of the app serves the dashboard. */
  readonly pageUrl: string | null;
  readonly lastLine: string | null;
  /** What a key just did; null: nothing. */
  readonly notice: string | null;
  readonly workers: readonly WorkerState[];
  /** By timer whose last run failed: the message of its error. */
  readonly failingTimers: ReadonlyMap<string, string>;
  /** How often they were started again because the app was built anew. */
  readonly restarts: number;
  /** The one whose limit the keys change; null: without a sample there is none. */
  readonly pacedDefinition: string | null;
  /** The keys are shown only where they can be pressed. */
  readonly hasKeys: boolean;
}

/** Cells of a terminal. */
export interface FrameSize {
  readonly columns: number;
  readonly rows: number;
}

/** Dead letters in the picture; the page shows all. */
const deadLettersShown = 5;
const barWidthMax = 50;

/** The picture as lines, none wider and not more of them than the terminal has. Pure. */
export function drawFrame(state: LiveState, size: FrameSize, theme: Theme): string[] {
  const { progress } = state;
  const lines = [
    theme.strong(`Taskgate  ${state.title}`),
    "",
    ...drawProgress(state, size, theme),
    ...drawBatches(progress.batches, theme),
    "",
    ...drawDefinitions(progress.definitions, state.pacedDefinition, theme),
    "",
    ...drawDeadLetters(progress, theme),
    "",
    ...drawWorkers(state.workers, theme),
    ...[...state.failingTimers].map((failing) => theme.bad(describeFailing(failing))),
    theme.faint(`log   ${printable(state.lastLine ?? ".taskgate/local.log")}`),
    ...(state.pageUrl === null ? [] : [`page  ${state.pageUrl}`]),
    drawKeys(state, theme),
  ];
  // The last line stays free: a terminal scrolls when its last cell is written.
  return lines
    .slice(0, Math.max(1, size.rows - 1))
    .map((line) => cutToWidth(line, size.columns - 1));
}

/** `sweep failed: ..`. A timer has no caller: else nothing but the log would tell. */
export function describeFailing([name, failure]: readonly [string, string]): string {
  return `${printable(name)} failed: ${printable(firstLine(failure))}`;
}

function drawProgress(state: LiveState, size: FrameSize, theme: Theme): string[] {
  const { progress, elapsedMs, leftMs } = state;
  const share = shareOf(progress);
  const width = Math.min(barWidthMax, Math.max(10, size.columns - 30));
  const percent = share === null ? "  ..%" : `${String(Math.floor(share * 100)).padStart(4)}%`;
  const left = leftMs === null ? "" : `, about ${formatDuration(leftMs)} left`;
  const bar = theme.good(progressBar(share ?? 0, width));
  return [
    `${bar}${percent}  ${formatDuration(elapsedMs)}${left}`,
    theme.faint(describeWork(progress)),
  ];
}

const batchesShown = 4;
const batchNameMax = 30;
const waveBarWidth = 22;

/** `flights.json  wave 1 of 3  [####----]  37 of 80`, a line for each batch that runs. */
function drawBatches(batches: readonly BatchProgress[], theme: Theme): string[] {
  const shown = batches.slice(0, batchesShown);
  const nameOf = ({ name }: BatchProgress): string => cutToWidth(printable(name), batchNameMax);
  const width = Math.max(0, ...shown.map((batch) => nameOf(batch).length));
  return shown.map((batch) => {
    const { wave, waves, ended, total } = batch;
    const bar = theme.accent(progressBar(total === 0 ? 0 : ended / total, waveBarWidth));
    const place = `wave ${String(wave)} of ${String(waves)}`;
    return `${padToWidth(nameOf(batch), width)}  ${place}  ${bar}  ${String(ended)} of ${String(total)}`;
  });
}

/** The paced tasks take the time: a wave of others is short beside them. */
const pacedWeight = 0.9;

/**
 * Part of the work that is done, as far as it is known; 1 only when everything has ended. Most of it is the paced
 * definition's share, a little that of all others, whose number grows with the paced tasks that have ended. Tasks that no worker
 * starts don't count. Null: not known, also while functions hold tokens: their messages are in no count.
 */
export function shareOf({ definitions, paced, others, files, isSettled }: Progress): number | null {
  if (isSettled) return 1;
  const total = paced.total - paced.stopped;
  if (!paced.isKnown || paced.isCut || total === 0) return null;
  const pacedShare = paced.ended / total;
  if (files === null) return definitions.some(isCalling) ? null : pacedShare;
  const othersShare = others.total === 0 ? pacedShare : others.ended / others.total;
  return Math.min(0.99, pacedWeight * pacedShare + (1 - pacedWeight) * pacedShare * othersShare);
}

function isCalling({ name, held }: DefinitionStatus): boolean {
  return isCallsDefinition(name) && held > 0;
}

/** `3 of 3 files, 37 of 89 blocks`; without a sample `37 of 89 tasks`. */
export function describeWork({ files, paced }: Progress): string {
  if (files === null)
    return paced.total === 0
      ? "no tasks yet: npx taskgate enqueue NAME --payload .. adds one"
      : paced.isCut
        ? `${showCount(paced.ended)} tasks have ended, ${showCount(paced.total - paced.ended)} to go`
        : `${String(paced.ended)} of ${String(paced.total)} tasks${describeStopped(paced)}`;
  const known =
    paced.isKnown && !paced.isCut ? String(paced.total) : `${String(paced.total)} or more`;
  return `${String(files.imported)} of ${String(files.landed)} files, ${String(paced.ended)} of ${known} blocks`;
}

function describeStopped({ stopped }: Progress["paced"]): string {
  if (stopped === 0) return "";
  const start = stopped === 1 ? "1 doesn't start" : `${String(stopped)} don't start`;
  return `, ${start}: paused, or a limit of 0`;
}

/** Columns with their widths. */
const stateColumns = {
  ready: 7,
  scheduled: 11,
  waiting: 9,
  running: 9,
  prefetched: 12,
  done: 8,
  dead: 8,
} as const;
type StateColumn = keyof typeof stateColumns;
const columnNames = Object.keys(stateColumns) as StateColumn[];

function drawDefinitions(
  definitions: readonly DefinitionStatus[],
  paced: string | null,
  theme: Theme,
): string[] {
  if (definitions.length === 0)
    return [theme.faint("no definitions yet: a worker registers its own")];
  const names = definitions.map(({ name }) => printable(shownName(name)));
  const nameWidth = Math.max(10, ...names.map((name) => name.length)) + 2;
  const bars = definitions.map(drawTokens);
  const barWidth = Math.max(14, ...bars.map((bar) => bar.length)) + 2;
  const heads = columnNames.map((column) => column.padStart(stateColumns[column])).join("");
  const head = padToWidth("definition", nameWidth) + padToWidth("tokens", barWidth) + heads;
  const rows = definitions.map((definition, at) => {
    const name = padToWidth(names[at] ?? "", nameWidth);
    const bar = padToWidth(bars[at] ?? "", barWidth);
    const counts = columnNames.map((column) => drawCount(definition, column, theme)).join("");
    const mark = definition.paused ? "  paused" : "";
    return `${definition.name === paced ? theme.strong(name) : name}${theme.accent(bar)}${counts}${mark}`;
  });
  return [theme.faint(head), ...rows];
}

function drawCount(definition: DefinitionStatus, column: StateColumn, theme: Theme): string {
  // A call in an invocation is no task.
  if (isCallsDefinition(definition.name)) return theme.faint("-".padStart(stateColumns[column]));
  const count = definition[column];
  const text = showCount(count).padStart(stateColumns[column]);
  if (count === 0) return theme.faint(text);
  return column === "dead" ? theme.bad(text) : text;
}

/** `workers  local-1 (4711)  local-2 starting again: SIGKILL`; a worker that ended by itself stands out. */
function drawWorkers(workers: readonly WorkerState[], theme: Theme): string[] {
  const shown = workers.map(({ name, pid, ends, lastEnd }) => {
    if (pid === null) return theme.bad(`${name} starting again: ${printable(lastEnd ?? "")}`);
    const again =
      ends === 0
        ? ""
        : `, started again${ends === 1 ? "" : ` ${String(ends)} times`}: ${printable(lastEnd ?? "")}`;
    return `${name} (process ${String(pid)}${again})`;
  });
  return workers.length === 0 ? [] : [`${theme.faint("work ")} ${shown.join("  ")}`];
}

function drawDeadLetters({ deadLetters, definitions }: Progress, theme: Theme): string[] {
  const count = definitions.reduce((sum, definition) => sum + definition.dead, 0);
  if (count === 0) return [theme.faint("no dead letters")];
  const head = theme.bad(
    count === 1 ? "1 dead letter" : `${showCount(count)} dead letters, the latest:`,
  );
  const letters = deadLetters.slice(0, deadLettersShown).map(({ definition, reason }) => {
    return `  ${definition}  ${printable(shortReason(reason))}`;
  });
  return [head, ...letters];
}

/** The error, without the part that every dead letter of that kind has. */
function shortReason(reason: string): string {
  return firstLine(reason).replace(/^(the payload is invalid|GiveUp): /, "");
}

function drawKeys(state: LiveState, theme: Theme): string {
  if (state.notice !== null) return theme.accent(state.notice);
  if (!state.hasKeys) return "";
  if (state.pacedDefinition === null) return theme.faint("keys  q ends");
  return theme.faint(`keys  + and - change the limit of ${state.pacedDefinition}, q ends`);
}
