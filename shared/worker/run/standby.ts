/**
 * What a session that stays for tasks to come knows from outside. Without it a session ends when it has run out of tasks,
 * and nothing wakes it before its next look.
 */
export interface Standby {
  /** For tasks that arrive no other session is begun: this one asks for further tokens itself. */
  readonly growsOnArrival: boolean;
  /**
   * `look` is called when tasks may have become ready; it gives how many the session can begin now. The returned function ends
   * that.
   */
  onArrival(look: () => number): () => void;
  /** Whether the session has tasks, and whether it can take no more: told as often as it is looked at. */
  noteLoad(isBusy: boolean, isFull: boolean): void;
  /** The pause after so many empty reads in a row, ms; null: the session ends. */
  pauseMs(emptyReads: number): number | null;
}
