/** An execution as far as another invocation of its process may use it. */
export interface LentExecution {
  /** Looks for tasks now; gives how many it can begin at once. */
  readonly look: () => number;
  /** Tasks became ready that it may not have seen. */
  notePending(): void;
}

/**
 * Executions of one process that hold tokens and wait for tasks, by definition. A task that another invocation of the
 * process makes ready begins on such a token: where the limit is 1, no other token is to be had before that execution ends.
 */
export class IdleExecutions {
  readonly #executions = new Map<string, Set<Listed>>();

  /** Lists an execution until the returned function is called. */
  add(definition: string, execution: LentExecution): { noteBusy: () => void; remove: () => void } {
    const listed: Listed = { execution, promised: 0 };
    const all = this.#executions.get(definition) ?? new Set();
    this.#executions.set(definition, all.add(listed));
    return {
      noteBusy: () => {
        listed.promised = 0;
      },
      remove: () => {
        all.delete(listed);
        if (all.size === 0 && this.#executions.get(definition) === all)
          this.#executions.delete(definition);
      },
    };
  }

  /** Lets waiting executions look for up to `tasks` tasks; gives how many they begin. */
  wake(definition: string, tasks: number): number {
    let left = tasks;
    for (const listed of this.#executions.get(definition) ?? []) {
      if (left < 1) break;
      const free = listed.execution.look() - listed.promised;
      if (free < 1) continue;
      listed.execution.notePending();
      const taken = Math.min(free, left);
      listed.promised += taken;
      left -= taken;
    }
    return tasks - left;
  }
}

interface Listed {
  readonly execution: LentExecution;
  /** Tasks that it was told of and hasn't claimed yet. */
  promised: number;
}
