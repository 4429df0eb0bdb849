/** How long a server that refuses for now is asked again. */
export interface Patience {
  /** Longest wait, over all refusals. */
  readonly waitMs: number;
  readonly monotonicMs: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  /** Told of each refusal, before the pause that follows it. */
  readonly onWait: (wait: Wait) => void;
  /** Lets the address of this machine, as the server sees it, through the server's firewall. */
  readonly admit?: (address: string) => Promise<void>;
}

/** One refusal that is waited out. */
export interface Wait {
  /** The server's number for it. */
  readonly number: number;
  /** What it means, in half a sentence. */
  readonly reason: string;
  /** Since the first call. */
  readonly waitedMs: number;
  readonly waitMs: number;
  readonly pauseMs: number;
}
