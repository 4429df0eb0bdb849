/**
 * What a session that stays for tasks to come knows from outside. Without it a session ends when it has run out of tasks,
 * and nothing wakes it before its next look.
 */
export interface Standby {
  /**
   * `look` is called when tasks may have become ready; it gives how many the session can begin now. The returned function ends
   * that.
   */
  onArrival(look: () => number): () => void;
  /** The session has tasks, or has none: told as often as it is looked at. */
  noteBusy(isBusy: boolean): void;
  /** The pause after so many empty reads in a row, ms; null: the session ends. */
  pauseMs(emptyReads: number): number | null;
}
