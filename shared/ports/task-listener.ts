/**
 * Hears of new tasks from other processes, where the database has notifications (PostgreSQL). A notification may be lost
 * or come in vain: polls find the tasks all the same.
 */
export interface TaskListener {
  /** Do notifications come just now? Not while the connection is being opened. */
  readonly isListening: boolean;
  /** This process waits for tasks of a definition. Resolves when the database knows, or can't be told now; never rejects. */
  wait(definition: string): Promise<void>;
  /** It has tasks of the definition: a notification is for another process. */
  stopWaiting(definition: string): void;
  /** Ends the connection. Never rejects. */
  close(): Promise<void>;
}

/** What a listener tells. */
export interface TaskListenerEvents {
  /** Tasks of a definition may have become ready. */
  readonly onNews: (definition: string) => void;
  /** Notifications come, or come again: earlier ones may have been lost. */
  readonly onListening: () => void;
  /** Notifications don't come for a while; polls go on. */
  readonly onTrouble: (reason: string) => void;
}
