import type { TaskId } from "../core/ids";
import type { RedriveTasksInput, RescheduleTasksInput } from "../ports/task-store";
import type { AdminOptions } from "./admin-options";
import type { Actor, OfDefinition } from "./admin-tools";
import { enqueue } from "./enqueue-actions";
import type { EnqueueRequest } from "./enqueue-request";
import { explain, readFacts } from "./explain-report";
import { withKnownNames } from "./known-definitions";
import { cancelTasks, redriveTasks, rescheduleTasks } from "./task-actions";
import { previewCancel, previewRedrive, previewReschedule } from "./task-preview";
import { listTasks } from "./task-list";
import type { TaskPageRequest } from "./task-list";
import type { CancelRequest, OrPreview } from "./task-requests";

/** Calls about tasks. With `dryRun` cancel, redrive and reschedule only tell what would become of the tasks. */
export function taskCalls(options: AdminOptions) {
  const { store } = options;
  return {
    /** A page of tasks, state by state: unfinished ones in the order they will be taken, ended ones newest first. */
    tasks: (request: TaskPageRequest) =>
      withKnownNames(options, request.definition, () => listTasks(store, request)),
    /** Where a task stands and why. */
    explain: (taskId: TaskId) => explain(options, taskId),
    /** The known facts of a task, without the reasons, whose reads an export of many tasks would repeat for each; null: it moves all the time. */
    facts: (taskId: TaskId) => readFacts(store, taskId),
    /** Adds tasks and leaves a hint. With an operation id a repeat adds nothing and answers the same. */
    enqueue: (request: EnqueueRequest & Actor & OfDefinition) =>
      withKnownNames(options, request.definition, () => enqueue(options, request)),
    /** Ends waiting tasks, requests the end of running ones; leaves hints for definitions that got ready tasks by it. */
    cancel: ({ dryRun, ...request }: CancelRequest & Actor) =>
      dryRun === true ? previewCancel(store, request.taskIds) : cancelTasks(options, request),
    /** Dead letters and cancelled tasks become tasks again. */
    redrive: ({ dryRun, ...request }: OrPreview<RedriveTasksInput> & Actor) => {
      if (!("taskIds" in request))
        return withKnownNames(options, request.name, () => redriveTasks(options, request));
      return dryRun === true
        ? previewRedrive(store, request.taskIds)
        : redriveTasks(options, request);
    },
    /** Gives tasks that wait another instant; leaves a hint for it. */
    reschedule: ({ dryRun, ...request }: OrPreview<RescheduleTasksInput> & Actor) =>
      dryRun === true
        ? previewReschedule(store, request.taskIds)
        : rescheduleTasks(options, request),
  };
}
