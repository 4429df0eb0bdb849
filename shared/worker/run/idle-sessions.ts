/** A session as far as another invocation of its process may use it. */
export interface LentSession {
  /** Looks for tasks now; gives how many it can begin at once. */
  readonly look: () => number;
  /** Tasks became ready that it may not have seen. */
  notePending(): void;
}

/**
 * Sessions of one process that wait for tasks with tokens in their hands, by definition. A task that another invocation of the
 * process makes ready begins on such a token: where the limit is 1, no other token is to be had before that session ends.
 */
export class IdleSessions {
  readonly #sessions = new Map<string, Set<Listed>>();

  /** Lists a session until the returned function is called. */
  add(definition: string, session: LentSession): { noteBusy: () => void; remove: () => void } {
    const listed: Listed = { session, promised: 0 };
    const all = this.#sessions.get(definition) ?? new Set();
    this.#sessions.set(definition, all.add(listed));
    return {
      noteBusy: () => {
        listed.promised = 0;
      },
      remove: () => {
        all.delete(listed);
        if (all.size === 0 && this.#sessions.get(definition) === all)
          this.#sessions.delete(definition);
      },
    };
  }

  /** Lets waiting sessions look for up to `tasks` tasks; gives how many they begin. */
  wake(definition: string, tasks: number): number {
    let left = tasks;
    for (const listed of this.#sessions.get(definition) ?? []) {
      if (left < 1) break;
      const free = listed.session.look() - listed.promised;
      if (free < 1) continue;
      listed.session.notePending();
      const taken = Math.min(free, left);
      listed.promised += taken;
      left -= taken;
    }
    return tasks - left;
  }
}

interface Listed {
  readonly session: LentSession;
  /** Tasks that it was told of and hasn't claimed yet. */
  promised: number;
}
