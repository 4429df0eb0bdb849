import type {
  CancelTasksAnswer,
  CancelTasksInput,
  RedriveTasksAnswer,
  RedriveTasksInput,
  RescheduleTasksAnswer,
  RescheduleTasksInput,
} from "../ports/task-store";
import { hintAll } from "./admin-tools";
import type { AdminTools } from "./admin-tools";

/** What operators do with tasks: one call each, then hints for definitions that got ready tasks. */

/** What became of the tasks of a call, each once, in input order. */
export interface TaskResults<Result> {
  readonly tasks: readonly Result[];
}

/** What became of one task. */
export type CancelResult = Renamed<CancelTasksAnswer["results"][number]>;
/** What became of one task. */
export type RedriveResult = Renamed<RedriveTasksAnswer["results"][number]>;
/** What became of one task. */
export type RescheduleResult = Renamed<RescheduleTasksAnswer["results"][number]>;

type Renamed<Result extends { taskId: string }> = Omit<Result, "taskId"> & {
  readonly task: Result["taskId"];
};

/** Ends waiting tasks, requests the end of running ones. */
export async function cancelTasks(
  { store, wakeUp }: AdminTools,
  request: CancelTasksInput,
): Promise<TaskResults<CancelResult>> {
  const { results, woken } = await store.cancelTasks(request);
  await hintAll(wakeUp, woken);
  return { tasks: rename(results) };
}

/** Dead or cancelled tasks become tasks again. */
export async function redriveTasks(
  { store, wakeUp }: AdminTools,
  request: RedriveTasksInput,
): Promise<TaskResults<RedriveResult>> {
  const { results, woken } = await store.redriveTasks(request);
  await hintAll(wakeUp, woken);
  return { tasks: rename(results) };
}

/** Moves tasks in time; leaves a hint for the new instant. */
export async function rescheduleTasks(
  { store, wakeUp }: AdminTools,
  request: RescheduleTasksInput,
): Promise<TaskResults<RescheduleResult>> {
  const { results, nextDueMs, definitions, woken } = await store.rescheduleTasks(request);
  await hintAll(wakeUp, woken);
  await Promise.all(definitions.map((name) => wakeUp.hint(name, { inMs: nextDueMs ?? 0 })));
  return { tasks: rename(results) };
}

/** As people see results: `task` instead of `taskId`. */
function rename<Result extends { taskId: string }>(results: readonly Result[]): Renamed<Result>[] {
  return results.map(({ taskId, ...result }) => ({ task: taskId, ...result }));
}
