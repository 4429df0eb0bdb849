import type {
  CancelTasksAnswer,
  CancelTasksInput,
  RedriveTasksAnswer,
  RedriveTasksInput,
  RescheduleTasksAnswer,
  RescheduleTasksInput,
} from "../ports/task-store";
import type { WakeUp } from "../ports/wake-up";
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
  return tell(wakeUp, await store.cancelTasks(request));
}

/** Dead or cancelled tasks become tasks again. */
export async function redriveTasks(
  { store, wakeUp }: AdminTools,
  request: RedriveTasksInput,
): Promise<TaskResults<RedriveResult>> {
  return tell(wakeUp, await store.redriveTasks(request));
}

/** Moves tasks in time; leaves a hint for the new instant. */
export async function rescheduleTasks(
  { store, wakeUp }: AdminTools,
  request: RescheduleTasksInput,
): Promise<TaskResults<RescheduleResult>> {
  const { nextDueMs, definitions, ...answer } = await store.rescheduleTasks(request);
  const told = await tell(wakeUp, answer);
  await Promise.all(definitions.map((name) => wakeUp.hint(name, { inMs: nextDueMs ?? 0 })));
  return told;
}

/** Leaves the hints. Results as people see them: `task` instead of `taskId`. */
async function tell<Result extends { taskId: string }>(
  wakeUp: WakeUp,
  { results, woken }: { readonly results: readonly Result[]; readonly woken: readonly string[] },
): Promise<TaskResults<Renamed<Result>>> {
  await hintAll(wakeUp, woken);
  return { tasks: results.map(({ taskId, ...result }) => ({ task: taskId, ...result })) };
}
