import type { TaskId } from "../../core/ids";
import type { ClaimedTask, Failure } from "../../ports/task-store";
import { cancelledEnd } from "./refused-end";

/** The claimed tasks of one execution that haven't started, in the order in which they start. */
export class ClaimedTasks {
  readonly #tasks: ClaimedTask[] = [];
  #all = 0;

  get count(): number {
    return this.#tasks.length;
  }

  /** All that the execution has ever claimed. */
  get countInAll(): number {
    return this.#all;
  }

  get first(): ClaimedTask | undefined {
    return this.#tasks[0];
  }

  add(tasks: readonly ClaimedTask[]): void {
    this.#tasks.push(...tasks);
    this.#all += tasks.length;
  }

  /** The first one starts, or ends unstarted. */
  takeFirst(): void {
    this.#tasks.shift();
  }

  /** They go back, or are lost with the lease. */
  clear(): void {
    this.#tasks.length = 0;
  }

  /** The end of a task whose cancel was asked for; null: it isn't here, or its turn at the gate is under way and it ends when it has it. */
  cancel(taskId: TaskId): Failure | null {
    const at = this.#tasks.findIndex((task) => task.taskId === taskId);
    const task = this.#tasks[at];
    if (task === undefined) return null;
    if (task.isSuspect) {
      this.#tasks[at] = { ...task, isCancelRequested: true };
      return null;
    }
    this.#tasks.splice(at, 1);
    return cancelledEnd(task);
  }
}
