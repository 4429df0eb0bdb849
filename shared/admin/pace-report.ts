import { countedMax } from "../core/counted";
import { isCallsDefinition } from "../core/calls-definition";
import type { TaskId } from "../core/ids";
import { oldestAgeMs } from "../core/oldest-age";
import type {
  DefinitionStatus,
  KindPace,
  ReadPaceAnswer,
  TaskListEntry,
  TaskStore,
} from "../ports/task-store";

/** How a definition gets on: how old its oldest ready task is, how fast tasks end, when all are done, which tasks run for too long. */

/** A task that is claimed. */
export interface RunningTask extends Pick<TaskListEntry, "task" | "kind" | "state" | "worker"> {
  /** Since it was claimed. */
  readonly sinceMs: number;
  /**
   * It is claimed for longer than 99 of 100 of its kind ran within the last hour, and for a second at least; where tasks are prefetched,
   * for as long as those before it may have taken besides. Since when it runs isn't known.
   */
  readonly isSlow: boolean;
}

/** How a definition gets on. */
export interface PaceReport {
  readonly definition: string;
  readonly oldestReady: {
    readonly task: TaskId;
    readonly createdAt: string;
    /** Since when it may start. */
    readonly dueAt: string;
    /** Since then. */
    readonly ageMs: number;
  } | null;
  /** Tasks that ended well within the last hour, the newest thousand, and the time since the first of them; null: there is none. */
  readonly ended: {
    readonly count: number;
    readonly overMs: number;
    readonly perMinute: number;
  } | null;
  /** Until tasks that are ready, wait or are claimed have ended, at that pace; 0: there is none; null: not known. */
  readonly estimatedLeftMs: number | null;
  /** Why `estimatedLeftMs` isn't known; null: it is. */
  readonly heldUpBy: string | null;
  readonly kinds: readonly KindPace[];
  /** Claimed tasks, those that run first; at most a thousand. */
  readonly running: readonly RunningTask[];
}

const readMax = 1_000;
/** A hint or a sweep brings a worker sooner. */
const leftMs = 90_000;
const noWorker = "no worker runs";
/** Below it a task that is slower than others isn't worth a look. */
const slowMsMin = 1_000;
/** Fewer tell nothing of 99 in 100. */
const measuredMin = 20;

/** Two reads. */
export async function readPace(
  { store }: { readonly store: TaskStore },
  definition: DefinitionStatus,
): Promise<PaceReport> {
  const { name } = definition;
  const [pace, { tasks }] = await Promise.all([
    store.readPace({ name, max: readMax }),
    store.listTasks({ name, state: "claimed", max: readMax }),
  ]);
  const { overMs, kinds } = pace;
  const nowMs = pace.now.getTime();
  const ended =
    overMs === null
      ? null
      : { count: pace.ended, overMs, perMinute: perMinute(pace.ended, overMs) };
  const oldestReady = oldestOf(pace);
  const outlook = estimateLeft(definition, ended, oldestReady);
  return {
    definition: name,
    oldestReady,
    ended,
    ...outlook,
    kinds,
    running: tasks.map((task) => toRunning(task, { kinds, nowMs, definition })),
  };
}

function oldestOf(pace: ReadPaceAnswer): PaceReport["oldestReady"] {
  const { oldestReady } = pace;
  if (oldestReady === null) return null;
  const { taskId: task, createdAt, dueAt } = oldestReady;
  return { task, createdAt, dueAt, ageMs: oldestAgeMs(pace) };
}

/** Rounded to a tenth. One that ended this instant says as much as one that ended a second ago. */
function perMinute(count: number, overMs: number): number {
  return Math.round((count / Math.max(overMs, 1_000)) * 600_000) / 10;
}

function estimateLeft(
  definition: DefinitionStatus,
  ended: PaceReport["ended"],
  oldestReady: PaceReport["oldestReady"],
): Pick<PaceReport, "estimatedLeftMs" | "heldUpBy"> {
  const { ready, waiting, claimed, executions } = definition;
  const left = ready + waiting + claimed;
  const isLeft = executions === 0 && (oldestReady?.ageMs ?? 0) > leftMs;
  const heldUpBy = reasonOf(definition, ended, left) ?? (isLeft ? noWorker : null);
  if (left === 0) return { estimatedLeftMs: 0, heldUpBy: null };
  if (heldUpBy !== null || ended === null) return { estimatedLeftMs: null, heldUpBy };
  const byPaceMs = (left / ended.perMinute) * 60_000;
  return { estimatedLeftMs: Math.round(Math.max(byPaceMs, byRateMs(definition))), heldUpBy: null };
}

/** Until the rate lets the last one of the waiting tasks start; 0: there is none. */
function byRateMs({ rate, rateInMs, ready, waiting }: DefinitionStatus): number {
  if (rate == null || ready + waiting === 0) return 0;
  return (rateInMs ?? 0) + ((ready + waiting - 1) * rate.periodMs) / rate.count;
}

function reasonOf(
  { name, paused, limit, ready, waiting, claimed, executions }: DefinitionStatus,
  ended: PaceReport["ended"],
  left: number,
): string | null {
  if (left === 0) return null;
  if (isCallsDefinition(name)) return "it has calls, no tasks";
  if (paused) return "it is paused";
  if (limit === 0) return "its limit is 0";
  if (ready + claimed === 0) return "all of them wait for their groups";
  if (Math.max(ready, waiting) >= countedMax) return "more tasks wait than are counted";
  if (ended === null || ended.perMinute === 0)
    return executions === 0 ? noWorker : "no task ended within the last hour";
  return null;
}

interface Among {
  readonly kinds: readonly KindPace[];
  readonly nowMs: number;
  readonly definition: Pick<DefinitionStatus, "prefetchMax">;
}

function toRunning(
  { task, kind, state, claimedAt, worker }: TaskListEntry,
  { kinds, nowMs, definition: { prefetchMax } }: Among,
): RunningTask {
  const sinceMs = Math.max(nowMs - Date.parse(claimedAt ?? ""), 0);
  const own = kinds.find((pace) => pace.kind === kind);
  const usualMs = own === undefined || own.ended < measuredMin ? null : own.p99Ms;
  // A prefetched task is claimed while others run before it on its token.
  const waitMs = prefetchMax * Math.max(0, ...kinds.map(({ p99Ms }) => p99Ms ?? 0));
  const isSlow =
    state === "running" && usualMs !== null && sinceMs > Math.max(usualMs, slowMsMin) + waitMs;
  return { task, kind, state, sinceMs, worker, isSlow };
}
