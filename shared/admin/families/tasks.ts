import type { TaskId } from "../../core/ids";
import type { RedriveTasksInput, RescheduleTasksInput } from "../../ports/task-store";
import type { Actor, AdminOptions, OfDefinition } from "../admin-options";
import { enqueue } from "../enqueue-actions";
import type { EnqueueReport } from "../enqueue-actions";
import type { EnqueueRequest } from "../enqueue-request";
import { explain, readFacts } from "../explain-report";
import type { ExplainReport, ShownFacts } from "../explain-report";
import { withKnownNames } from "../known-definitions";
import { cancelTasks, redriveTasks, rescheduleTasks } from "../task-actions";
import type { CancelResult, RedriveResult, RescheduleResult, TaskResults } from "../task-actions";
import { previewCancel, previewRedrive, previewReschedule } from "../task-preview";
import { listTasks } from "../task-list";
import type { TaskPage, TaskPageRequest } from "../task-list";
import type { CancelRequest, OrPreview } from "../task-requests";

/** Calls about tasks. */
export interface TaskCalls {
  /** A page of tasks, state by state: unfinished ones in the order they will be taken, finished ones newest first. */
  tasks(request: TaskPageRequest): Promise<TaskPage>;
  /** Where a task stands and why. */
  explain(taskId: TaskId): Promise<ExplainReport>;
  /** What is known of a task, without the reasons, whose reads an export of many tasks would repeat for each; null: it moves all the time. */
  facts(taskId: TaskId): Promise<ShownFacts | null>;
  /** Adds tasks and leaves a hint. With an operation id a repeat adds nothing and answers the same. */
  enqueue(request: EnqueueRequest & Actor & OfDefinition): Promise<EnqueueReport>;
  /** With `dryRun` this and the next two only tell what would become of the tasks. Ends waiting tasks, requests the end of running ones; leaves hints for definitions that got ready tasks by it. */
  cancel(request: CancelRequest & Actor): Promise<TaskResults<CancelResult>>;
  /** Dead letters and cancelled tasks become tasks again. */
  redrive(request: OrPreview<RedriveTasksInput> & Actor): Promise<TaskResults<RedriveResult>>;
  /** Gives tasks that wait another instant; leaves a hint for it. */
  reschedule(
    request: OrPreview<RescheduleTasksInput> & Actor,
  ): Promise<TaskResults<RescheduleResult>>;
}

/** The calls about tasks. */
export function taskCalls(options: AdminOptions): TaskCalls {
  const { store } = options;
  return {
    tasks: (request) => withKnownNames(store, request.definition, () => listTasks(store, request)),
    explain: (taskId) => explain(options, taskId),
    facts: (taskId) => readFacts(store, taskId),
    enqueue: (request) =>
      withKnownNames(store, request.definition, () => enqueue(options, request)),
    cancel: ({ dryRun, ...request }) =>
      dryRun === true ? previewCancel(store, request.taskIds) : cancelTasks(options, request),
    redrive: ({ dryRun, ...request }) => {
      if (!("taskIds" in request))
        return withKnownNames(store, request.name, () => redriveTasks(options, request));
      return dryRun === true
        ? previewRedrive(store, request.taskIds)
        : redriveTasks(options, request);
    },
    reschedule: ({ dryRun, ...request }) =>
      dryRun === true
        ? previewReschedule(store, request.taskIds)
        : rescheduleTasks(options, request),
  };
}
