import { listMax } from "../admin/listing";
import type { TaskPage, TaskPageRequest, TaskPlace } from "../admin/task-list";
import { take } from "../admin/read-result";
import { readDefinitionName } from "../admin/requests";
import { readKindFilter } from "../admin/task-requests";
import type { TaskId } from "../core/ids";
import { limits } from "../core/limits";
import { compareTexts } from "../core/text";
import type { ListableState, TaskListEntry } from "../ports/task-store";
import { shareBar } from "../terminal/bars";
import { showInstant, showNumber } from "../terminal/output";
import { report } from "./command";
import type { CommandContext, CommandOption } from "./command";
import { exitCodes } from "./exit-codes";
import type { CommandExitCode } from "./exit-codes";
import { progressOf } from "./progress-of";
import { readWhole, refusal } from "./read-values";
import { errorFilter, readErrorFilter, readFilters, readIds, taskFilters } from "./task-filters";
import { outcomeOf, Outcomes } from "./task-results";
import type { OutcomeTexts } from "./task-results";

/**
 * Changes tasks: those whose ids are given by one call, or all of a definition that filters leave. These are looked for first, then changed a
 * call after the other.
 */

/** Of each command that has `--all`. */
export const allOptions = {
  all: {
    short: "a",
    sentence:
      "The tasks of the definition NAME, in place of ids: all, or those that filters leave.",
  },
  kind: { valueName: "NAME", sentence: "With --all: only tasks of one handler." },
  "dry-run": { sentence: "With --all: only tells how many tasks there are." },
  ...taskFilters,
  ...errorFilter,
} as const satisfies Record<string, CommandOption>;

/** What a command does with tasks. */
export interface TaskChange {
  readonly texts: OutcomeTexts;
  /** Outcomes with which a task is where it was to go. */
  readonly wanted: readonly string[];
  /** Throws InvalidArgumentError for what no call would take. What it answers makes the call: 1..1000 tasks. */
  readonly prepare: (
    taskIds: readonly string[],
  ) => () => Promise<{ readonly tasks: readonly TaskResult[] }>;
}

interface TaskResult {
  readonly task: TaskId;
  readonly outcome: string;
  readonly state?: string | null;
}

/** The same with many tasks. */
export interface ChangeOfAll extends TaskChange {
  /** `Cancels`, before the tasks. */
  readonly verb: string;
  /** What becomes of them, for the question. */
  readonly consequence: string;
  readonly states: readonly ListableState[];
  /** Ended tasks are listed newest first; these are changed oldest first. */
  readonly isOldestFirst?: boolean;
  /** Of those that the filters leave. */
  readonly fits?: (task: TaskListEntry) => boolean;
  /** The sentence where no task is found, which then is a failure; left out: it is none. */
  readonly missing?: string;
}

/** Most tasks that are looked for; a second call goes on behind them. */
const foundMax = 1_000_000;
/** A task that is locked at this moment is asked for again so often, with this pause. */
const busyRounds = 3;
const busyPauseMs = 300;

/** Changes the tasks whose ids are given. `onlyWithAll`: options that say nothing beside ids. `asks`: the question, before a change for good. */
export async function changeIds(
  context: CommandContext,
  { prepare, texts, wanted }: TaskChange,
  { onlyWithAll, asks }: { onlyWithAll: object; asks?: (tasks: readonly string[]) => string },
): Promise<CommandExitCode> {
  const ids = readIds(context, Object.keys({ ...allOptions, ...onlyWithAll }));
  const call = prepare(ids);
  if (asks !== undefined && !(await context.confirm(() => asks(ids)))) return exitCodes.failed;
  const answer = await call();
  const outcomes = new Outcomes();
  for (const result of answer.tasks) outcomes.add(result.task, outcomeOf(result));
  report(context, answer, () => outcomes.describe(texts));
  if (outcomes.areAll(["unknown"])) return exitCodes.notFound;
  return outcomes.areAll(wanted) ? exitCodes.ok : exitCodes.failed;
}

/** Looks for the tasks, asks, changes them. Ctrl+C ends it between two calls. */
export async function changeAll(
  context: CommandContext,
  change: ChangeOfAll,
): Promise<CommandExitCode> {
  const [name, second] = context.args;
  if (second !== undefined) throw refusal("argument", second, "one definition together with --all");
  const definition = take(readDefinitionName(name));
  const states = change.states.join(",");
  const query = readFilters(context, { state: states, max: String(listMax) });
  // What no call would take is told before anything is looked for.
  change.prepare(["1"]);
  // Only where the command has the option.
  const max = readWhole("--max", context.options["max"] ?? String(foundMax), [1, foundMax]);
  const found = await find(context, { ...query, definition }, change);
  if (change.isOldestFirst === true) found.tasks.reverse();
  const chosen = found.tasks.slice(0, max);
  const ids = chosen.map(([task]) => task);
  const which = describeFound(definition, chosen, found.isCut);
  const answer = { definition, found: ids.length };
  if (ids.length === 0 || context.flags.has("dry-run")) {
    report(context, { ...answer, outcomes: {}, isStopped: false }, () =>
      ids.length === 0
        ? (change.missing ?? `There is no such task of ${definition}.`)
        : `There ${ids.length === 1 ? "is" : "are"} ${which}. Nothing was changed.`,
    );
    return ids.length === 0 && change.missing !== undefined ? exitCodes.failed : exitCodes.ok;
  }
  if (!(await context.confirm(() => `${change.verb} ${which}. ${change.consequence}`)))
    return exitCodes.failed;
  const { outcomes, isStopped } = await apply(context, ids, change);
  report(context, { ...answer, outcomes: outcomes.counts(), isStopped }, () => {
    const lines = outcomes.describe(change.texts, change.wanted);
    return isStopped ? `${lines}\nStopped; the others are as they were.` : lines;
  });
  if (isStopped) return 130;
  return outcomes.areAll(change.wanted) ? exitCodes.ok : exitCodes.failed;
}

/** A task, and when it was added; ISO-8601. */
type FoundTask = readonly [task: TaskId, createdAt: string];

/** `isCut`: there may be others. */
async function find(
  context: CommandContext,
  request: TaskPageRequest,
  change: ChangeOfAll,
): Promise<{ tasks: FoundTask[]; isCut: boolean }> {
  const admin = context.admin();
  const { kind } = take(readKindFilter({ kind: context.options["kind"] }));
  const hasError = readErrorFilter(context);
  const progress = progressOf(context);
  const seen = new Map<TaskId, string>();
  let lookedAt = 0;
  let from: TaskPlace | null = null;
  try {
    do {
      const page: TaskPage = await admin.tasks({ ...request, ...(from === null ? {} : { from }) });
      for (const entry of page.tasks) {
        if (kind !== undefined && entry.kind !== kind) continue;
        if (hasError?.(entry) === false || change.fits?.(entry) === false) continue;
        seen.set(entry.task, entry.createdAt);
      }
      from = page.next;
      lookedAt += page.lookedAt;
      if (from !== null)
        progress.show(
          "search",
          `Looked at ${showNumber(lookedAt, "task", "tasks")}, found ${String(seen.size)}`,
        );
    } while (from !== null && seen.size < foundMax);
  } finally {
    progress.end();
  }
  return { tasks: [...seen], isCut: from !== null };
}

function describeFound(definition: string, tasks: readonly FoundTask[], isCut: boolean): string {
  const more = isCut ? "; there are more, for which a second call looks" : "";
  const instants = tasks.map(([, createdAt]) => createdAt).sort(compareTexts);
  const [first, last] = [showInstant(instants[0]), showInstant(instants.at(-1))];
  const added = first === last ? `added at ${first}` : `added between ${first} and ${last}`;
  return `${showNumber(tasks.length, "task", "tasks")} of ${definition}, ${added}${more}`;
}

async function apply(
  context: CommandContext,
  ids: readonly TaskId[],
  change: ChangeOfAll,
): Promise<{ outcomes: Outcomes; isStopped: boolean }> {
  const { pause, interrupted } = context.repeater();
  const progress = progressOf(context);
  const outcomes = new Outcomes();
  let waiting: readonly TaskId[] = ids;
  try {
    for (let round = 0; ; round += 1) {
      const busy: TaskId[] = [];
      for (let at = 0; at < waiting.length; at += limits.idsMax) {
        if (interrupted?.aborted === true) return { outcomes, isStopped: true };
        const slice = waiting.slice(at, at + limits.idsMax);
        for (const result of (await change.prepare(slice)()).tasks) {
          const outcome = outcomeOf(result);
          if (outcome === "busy" && round < busyRounds) busy.push(result.task);
          else outcomes.add(result.task, outcome);
        }
        const done = outcomes.total + busy.length;
        if (waiting.length > limits.idsMax)
          progress.show(
            "change",
            `${shareBar(done / ids.length)}  ${String(done)} of ${String(ids.length)}`,
          );
      }
      if (busy.length === 0 || !(await pause(busyPauseMs)))
        return { outcomes, isStopped: busy.length > 0 };
      waiting = busy;
    }
  } catch (error) {
    progress.end();
    if (outcomes.total > 0) {
      const told = outcomes.describe(change.texts, change.wanted);
      if (!context.isJson) context.output.error(`Before the error: ${told}`);
      else context.output.line(JSON.stringify({ outcomes: outcomes.counts(), isStopped: true }));
    }
    throw error;
  } finally {
    progress.end();
  }
}
