/**
 * What an execution that waits for tasks to come knows from outside. Without it an execution ends when it has run out of tasks,
 * and nothing wakes it before its next look.
 */
export interface Standby {
  /** For tasks that arrive no other execution is begun: this one asks for further tokens itself. */
  readonly growsOnArrival: boolean;
  /**
   * `look` is called when tasks may have become ready; it gives how many the execution can begin now. The returned function ends
   * that.
   */
  onArrival(look: () => number): () => void;
  /** Whether the execution has tasks, and whether it can take no more: told as often as it is looked at. */
  noteLoad(isBusy: boolean, isFull: boolean): void;
  /** The pause after so many empty reads in a row, ms; null: the execution ends. */
  pauseMs(emptyReads: number): number | null;
}
