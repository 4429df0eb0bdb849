import type { JsonArray, JsonObject } from "../core/json";
import { parseContainer } from "./parse-container";
import type { EnqueueTasksInput, NewTask } from "../ports/task-store";

/** A task that code under test added. */
export interface EnqueuedTask extends Omit<NewTask, "payload" | "traceParent" | "kind"> {
  readonly kind: string;
  readonly definition: string;
  readonly payload: JsonObject | JsonArray | null;
}

/** The tasks of one call, as people write them. */
export function describeEnqueued(input: EnqueueTasksInput): EnqueuedTask[] {
  return input.tasks.map((task) => {
    const { payload, kind = input.name, ...options } = task;
    delete options.traceParent;
    // Said so to the database, where the code computed none.
    if (options.group === null) delete options.group;
    return {
      ...options,
      kind,
      definition: input.name,
      payload: parseContainer(payload),
    };
  });
}
