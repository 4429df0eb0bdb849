/** What a host is told by the process that started it. */
export type HostOrder =
  | { readonly is: "hint"; readonly definition: string }
  | { readonly is: "sweep" }
  /** Its wall clock jumps by so much. */
  | { readonly is: "skew"; readonly byMs: number }
  | { readonly is: "count" }
  | { readonly is: "stop" };

/** What a host says. */
export type HostNews =
  | { readonly is: "ready" }
  | { readonly is: "hint"; readonly definition: string; readonly inMs: number }
  /** Store calls that it has made so far, and executions that are open. */
  | { readonly is: "count"; readonly calls: number; readonly executions: number };

/** What a host is started with. */
export interface HostOptions {
  readonly url: string;
  readonly name: string;
  readonly ledger: string;
  readonly build: number;
  /** How far its wall clock is off from the start. */
  readonly skewMs: number;
  /** The system's calls are off by that already, for the whole process. */
  readonly isFaked: boolean;
  /** Seed of its chances. */
  readonly seed: number;
  /** A fault of the worker, planted; null: none. */
  readonly plant: string | null;
}
