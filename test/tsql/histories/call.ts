import type {
  DefinitionSettings,
  Failure,
  Limit,
  ListableState,
} from "../../../shared/ports/task-store";
import type { CallId, ExecutionName, FenceName, TaskName, WaveName } from "./call-names";
import type { EnqueuedTask } from "./new-tasks";
import type { OperatorAction } from "./operator-call";
import type { AdvanceWatermarkCall, StandingAction } from "./standing-call";

/* A history is a list of calls as data; names stand for what a store makes up (call-names.ts). */

/** A task with the fence under which it was claimed. */
export interface ClaimRef {
  readonly task: TaskName;
  readonly fence: FenceName;
}

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
