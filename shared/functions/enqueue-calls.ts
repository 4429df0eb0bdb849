import type { EnqueuedTask, TaskClient } from "../worker/client/client";
import type {
  AnyTaskRef,
  ClientEnqueueOptions,
  EnqueueArguments,
  EnqueueCalls,
  TaskInput,
  TaskRequest,
} from "../worker/define/task-ref";
import type { AppProcess } from "./runtime";

/** Adds tasks from the functions of an app. The answers also say when workers look for the tasks. */
export interface AppEnqueueCalls extends EnqueueCalls {
  /** As `EnqueueCalls` says. The end of the process waits for it. */
  enqueue<Task extends AnyTaskRef>(
    task: Task,
    ...payloadAndOptions: EnqueueArguments<TaskInput<Task>, ClientEnqueueOptions>
  ): Promise<EnqueuedTask>;
  /** As `EnqueueCalls` says. The end of the process waits for it. */
  enqueueMany<Task extends AnyTaskRef>(
    task: Task,
    payloads: readonly TaskInput<Task>[],
    options?: Omit<ClientEnqueueOptions, "dedupeKey">,
  ): Promise<EnqueuedTask[]>;
  /** As `EnqueueCalls` says. The end of the process waits for it. */
  enqueueAll(
    requests: readonly TaskRequest[],
    options?: Parameters<TaskClient["enqueueAll"]>[1],
  ): Promise<EnqueuedTask[]>;
}

/** The calls of the app in this process; each opens the database if no call before it did. */
export function createEnqueueCalls(app: AppProcess): AppEnqueueCalls {
  return {
    enqueue: (task, ...given) => app.tracked(({ client }) => client.enqueue(task, ...given)),
    enqueueMany: (task, payloads, options) =>
      app.tracked(({ client }) => client.enqueueMany(task, payloads, options)),
    enqueueAll: (requests, options) =>
      app.tracked(({ client }) => client.enqueueAll(requests, options)),
  };
}
