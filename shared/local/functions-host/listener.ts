/** What the host starts and stops: the part that turns events of one kind into invocations. */
export interface Listener {
  /** Begins to take work. */
  start(): void;
  /** Takes no more work from now on; running invocations go on. */
  stop(): void;
  /** Settles when everything taken has ended, its answer included. Never rejects. */
  idle(): Promise<void>;
}
