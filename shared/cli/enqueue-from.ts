import type { EnqueueReport } from "../admin/create-admin";
import { taskInList } from "../admin/enqueue-request";
import { addReport } from "../admin/enqueue-sums";
import { resultOf } from "../admin/object-schema";
import { ProblemList } from "../admin/problem-list";
import { take } from "../admin/read-result";
import { limits } from "../core/limits";
import type { TaskId } from "../core/ids";
import { keyOf } from "../core/payload-key";
import { TaskgateError } from "../core/errors";
import { realClock } from "../platform/real-clock";
import type { NewTask } from "../ports/task-store";
import { Estimate } from "../terminal/estimate";
import type { CommandContext } from "./command";
import { firstAdded, whenItStarts } from "./enqueue-texts";
import { exitCodes } from "./exit-codes";
import type { CommandExitCode } from "./exit-codes";
import { readPlan } from "./from-options";
import type { FromPlan } from "./from-options";
import { describeDone, describeProgress, howToGoOn, noneDone } from "./from-texts";
import { namingLines } from "./naming-lines";
import { openInput } from "./open-input";
import { progressOf } from "./progress-of";
import { tasksIn } from "./task-source";
import type { SourceTask } from "./task-source";

/**
 * Enqueues the tasks of a file, a slice at a time: the file may be longer than the memory. Ctrl+C ends it between two slices. Then, and
 * after an error, a sentence says up to which line all tasks are in.
 */
export async function enqueueFrom(
  context: CommandContext,
  definition: string,
): Promise<CommandExitCode> {
  const plan = readPlan(context, definition);
  const { interrupted } = context.repeater();
  const input = openInput(plan.path, { field: "--from", signal: interrupted });
  const { isJson, output } = context;
  const progress = progressOf(context);
  const estimate = new Estimate();
  let done = noneDone(plan.afterLine);
  let bytes = 0;
  let first: TaskId | null = null;
  let current: readonly SourceTask[] = [];
  const tell = (state: "running" | "stopped" | "done"): void => {
    if (isJson) output.line(JSON.stringify({ definition, ...done, state }));
  };
  try {
    for await (const slice of slicesOf(tasksIn(input, plan), interrupted)) {
      const share = input.bytes === null ? null : bytes / input.bytes;
      // A single slice is done before a person has read a line about it.
      if (done.calls > 0)
        progress.show("enqueue", describeProgress(done, share, estimate.leftMs()));
      const parts: (readonly SourceTask[])[] = [slice];
      for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
        current = part;
        const report = await send(context, plan, part);
        current = [];
        if (report !== "too large") first ??= firstAdded(report);
        if (report === "too large") {
          parts.unshift(...halvesOf(part));
          continue;
        }
        done = {
          calls: done.calls + 1,
          ...addReport(done, report, part.at(-1)?.last ?? done.lines),
        };
        bytes += part.reduce((sum, task) => sum + task.bytes, 0);
        if (input.bytes !== null) estimate.note(realClock.monotonicMs(), bytes / input.bytes);
        tell("running");
      }
    }
  } catch (error) {
    progress.end();
    const isLost = error instanceof TaskgateError && error.code === "TASKGATE_STORE_UNCERTAIN";
    if (!isJson) output.error(howToGoOn(done, plan, isLost ? current : []));
    throw error;
  }
  progress.end();
  const isStopped = interrupted?.aborted === true;
  tell(isStopped ? "stopped" : "done");
  const isUntouched = isStopped && done.calls === 0;
  if (!isJson && !isUntouched)
    output.line(describeDone(done, plan) + (await whenItStarts(context, done, first)));
  if (isStopped && !isJson) output.error(`Stopped. ${howToGoOn(done, plan, [])}`);
  return isStopped ? 130 : exitCodes.ok;
}

/** Enqueues all tasks of a slice, or none where one of them can't be enqueued, or where several are too large for one call. */
async function send(
  { changedBy, admin }: CommandContext,
  plan: FromPlan,
  slice: readonly SourceTask[],
): Promise<EnqueueReport | "too large"> {
  const problems = new ProblemList();
  const read = slice.flatMap((task) => newTaskOf(task, plan, problems) ?? []);
  const tasks = take(resultOf(read, problems));
  const { definition, allowsUnknownKind } = plan;
  try {
    return await admin().enqueue({ tasks, definition, allowsUnknownKind, changedBy });
  } catch (error) {
    if (slice.length > 1 && isTooLarge(error)) return "too large";
    throw namingLines(error, slice);
  }
}

/** A request of HTTP takes less than a call of the database: nothing has been added then. */
function isTooLarge(error: unknown): boolean {
  return error instanceof TaskgateError && error.code === "TASKGATE_ARG_TOO_LARGE";
}

function halvesOf(slice: readonly SourceTask[]): (readonly SourceTask[])[] {
  const middle = Math.ceil(slice.length / 2);
  return [slice.slice(0, middle), slice.slice(middle)];
}

/** Tasks in slices of one call. An end by `interrupted` drops the slice that has begun. */
async function* slicesOf(
  tasks: AsyncIterable<SourceTask>,
  interrupted: AbortSignal | undefined,
): AsyncGenerator<readonly SourceTask[]> {
  let slice: SourceTask[] = [];
  let bytes = 0;
  try {
    for await (const task of tasks) {
      const isFull = bytes + task.bytes > limits.fileSliceBytesMax;
      if (slice.length === limits.fileSliceTasksMax || (slice.length > 0 && isFull)) {
        yield slice;
        slice = [];
        bytes = 0;
      }
      if (interrupted?.aborted === true) return;
      slice.push(task);
      bytes += task.bytes;
    }
  } catch (error) {
    // The reading was ended, too.
    if (interrupted?.aborted === true) return;
    throw error;
  }
  if (slice.length > 0) yield slice;
}

/** The task as it is enqueued; null: it has problems. */
function newTaskOf(source: SourceTask, plan: FromPlan, problems: ProblemList): NewTask | null {
  const path = `line ${String(source.number)}`;
  const read = source.read(problems);
  const task = read === null ? null : taskInList.readAt(read, { path, problems });
  if (task === null) return null;
  const { groupScope, runAt, ...others } = task;
  const { template } = plan;
  // A scope belongs to its group: options may name another one, or none. So may another time be named, in either way.
  const scope = template.group === undefined && groupScope !== undefined ? { groupScope } : {};
  const isTimed = template.runAt !== undefined || template.runInMs !== undefined;
  const time = isTimed || runAt === undefined ? {} : { runAt };
  const whole = { ...others, ...scope, ...time, ...template, payload: task.payload };
  if (plan.key === undefined) return whole;
  const found = keyOf(task.payload, plan.key);
  if ("key" in found && found.key !== null)
    return { ...whole, dedupeKey: found.key, dedupeMs: plan.keyMs };
  const said = "problem" in found ? /^(.*?): expected (.*) \((.*)\)$/s.exec(found.problem) : null;
  const [, at = `payload.${plan.key}`, expected = keyRule, value = "nothing"] = said ?? [];
  problems.add({ field: `${path}.${at}`, value, expected });
  return null;
}

const keyRule = "a text or a whole number, as --key-field names this field";
