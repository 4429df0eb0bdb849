import type {
  DefinitionSettings,
  Failure,
  Limit,
  ListableState,
  NewTask,
} from "../../../shared/ports/task-store";

import type { OperatorAction, WaveName } from "./operator-call";
import type { AdvanceWatermarkCall, StandingAction } from "./standing-call";

/*
 * A history is a list of calls as data. What a store makes up (ids, fences) is named by the call that got it, so that the
 * same list runs on every store, and still does after some calls were taken out:
 * `t7.0` is the first task that call 7 enqueued, `e3` the execution that call 3 started, `f9` the fence of call 9's claims.
 */

/** Names a call; calls inside a transaction are `12/0`, `12/1`. */
export type CallId = string;
/** `t7.0` */
export type TaskName = string;
/** `e3` */
export type ExecutionName = string;
/** `f9` */
export type FenceName = string;

/** A task with the fence under which it was claimed. */
export interface ClaimRef {
  readonly task: TaskName;
  readonly fence: FenceName;
}

/** As NewTask, with the instant counted from the history's start. */
export type EnqueuedTask = Omit<NewTask, "runAt"> & { readonly runAtMs?: number };

/** A completed claim. */
export interface DoneRef extends ClaimRef {
  readonly durationMs: number;
  readonly result: string | null;
}

/** A claim that didn't end well. */
export type FailureRef = ClaimRef & Omit<Failure, "taskId" | "fence">;

export interface EnqueueCall {
  readonly do: "enqueue";
  readonly definition: string;
  readonly build: number;
  readonly tasks: readonly EnqueuedTask[];
  /** Number of the operation id; null: none. */
  readonly operation: number | null;
  /** They are blocked until it opens. */
  readonly wave?: WaveName;
}

export interface CompleteCall extends DoneRef {
  readonly do: "complete";
  readonly execution: ExecutionName;
}

/** What may stand inside a user's transaction. */
export type InnerCall = { readonly id: CallId } & (
  | EnqueueCall
  | CompleteCall
  | AdvanceWatermarkCall
);

/** What a call does. */
export type Action =
  | {
      readonly do: "register";
      readonly definition: string;
      readonly build: number;
      readonly hash: string;
      readonly settings: DefinitionSettings;
    }
  | {
      readonly do: "setLimit";
      readonly definition: string;
      readonly limit: Limit | "code";
      readonly operation: number;
    }
  | { readonly do: "pause" | "resume"; readonly definition: string }
  | {
      readonly do: "start";
      readonly definition: string;
      readonly operation: number;
      readonly worker: string;
      readonly build: number;
      readonly hash: string | null;
      readonly want: number;
      readonly needsReady: boolean;
    }
  | { readonly do: "acquire"; readonly execution: ExecutionName; readonly want: number }
  | { readonly do: "release"; readonly execution: ExecutionName; readonly keep: number }
  | { readonly do: "releaseSurplus"; readonly execution: ExecutionName; readonly keep: number }
  | {
      readonly do: "work";
      readonly execution: ExecutionName;
      readonly callNumber: number;
      readonly done: readonly DoneRef[];
      readonly started: readonly TaskName[];
      readonly want: number;
      readonly after?: {
        readonly priority: number;
        readonly rank: string;
        readonly task: TaskName;
      };
    }
  | CompleteCall
  | {
      readonly do: "fail";
      readonly execution: ExecutionName;
      readonly failures: readonly FailureRef[];
    }
  | {
      readonly do: "heartbeat";
      readonly beats: readonly {
        readonly execution: ExecutionName;
        readonly started: readonly TaskName[];
      }[];
    }
  | ({
      readonly do: "progress";
      readonly execution: ExecutionName;
      readonly done: number | null;
      readonly total: number | null;
      readonly text: string | null;
    } & ClaimRef)
  | { readonly do: "finish"; readonly execution: ExecutionName }
  | { readonly do: "reclaim"; readonly max: number }
  | EnqueueCall
  | { readonly do: "promote"; readonly definition: string; readonly max: number }
  | { readonly do: "sweep"; readonly max: number }
  | { readonly do: "listDefinitions"; readonly definition?: string }
  | {
      readonly do: "listExecutions";
      readonly definition?: string;
      readonly isOpen: boolean;
      readonly max: number;
    }
  | {
      readonly do: "listTasks";
      readonly definition: string;
      readonly state: ListableState;
      readonly max: number;
    }
  | { readonly do: "explain"; readonly task: TaskName }
  | { readonly do: "check" }
  | {
      readonly do: "transaction";
      readonly calls: readonly InnerCall[];
      readonly ends: "commit" | "rollback";
    }
  | OperatorAction
  | StandingAction
  /** No operation: a request for a task's end. */
  | { readonly do: "requestCancel"; readonly task: TaskName }
  /** No operation: time passes. */
  | { readonly do: "advance"; readonly ms: number };

/** One call of a history, and the number of the connection that it goes through; default 0. */
export type Call = { readonly id: CallId; readonly connection?: number } & Action;
