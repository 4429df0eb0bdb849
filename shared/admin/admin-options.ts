import type { Random } from "../ports/random";
import type { NewTask } from "../ports/task-store";
import type { Timers } from "../ports/timers";
import type { AdminTools } from "./admin-tools";
import type { DoctorProbe } from "./doctor";
import type { Known } from "./known-definitions";

/** What an admin works with. */
export interface AdminOptions extends AdminTools, Known {
  readonly random: Random;
  /** Bounds how long a stop or its end waits for a locked definition. */
  readonly timers: Timers;
  /** Build of the running code; enqueued tasks carry it. */
  readonly build: number;
  /** The W3C traceparent of the current span; tasks that name none of their own carry it. Default: none. */
  readonly currentTraceParent?: () => string | null;
  /**
   * Adds what the code says of the tasks' kinds, and throws InvalidArgumentError for payloads that their schemas refuse.
   * Default: the code isn't known here; the database adds what it knows of it, and refuses what only the code can tell.
   */
  readonly completeTasks?: (
    call: { readonly definition: string; readonly allowsUnknownKind?: boolean | undefined },
    tasks: readonly NewTask[],
  ) => Promise<readonly NewTask[]>;
  /** Address of the page of a trace, with `{trace}` in place of its id. Default: null, none is known. */
  readonly traceUrl?: string | null;
  /** Further checks of `doctor`, such as whether the queue answers. */
  readonly probes?: readonly DoctorProbe[];
}
