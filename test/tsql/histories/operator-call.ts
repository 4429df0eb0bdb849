import type { Rate } from "../../../shared/core/rate";
import type { FailurePolicy } from "../../../shared/ports/task-store";
import type { BatchName, TaskName } from "./call-names";

/** What operators do, and what goes on with batches. */
export type OperatorAction =
  | { readonly do: "cancel"; readonly tasks: readonly TaskName[] }
  | { readonly do: "redrive"; readonly tasks: readonly TaskName[] }
  | {
      readonly do: "redriveFound";
      readonly definition: string;
      readonly outcome: "dead" | "cancelled";
      readonly max: number;
    }
  | { readonly do: "reschedule"; readonly tasks: readonly TaskName[]; readonly runInMs: number }
  | {
      readonly do: "setGroup";
      readonly definition: string;
      readonly group: string;
      readonly scope: "definition" | "global";
      readonly slots?: number;
      readonly paused?: boolean;
      readonly strict?: boolean;
    }
  | { readonly do: "listGroups" }
  | { readonly do: "setRate"; readonly definition: string; readonly rate: Rate | null | "code" }
  | { readonly do: "purge"; readonly max: number }
  | {
      readonly do: "createBatch";
      readonly operation: number;
      readonly waves: number;
      readonly failurePolicy: FailurePolicy;
    }
  | { readonly do: "startBatch"; readonly batch: BatchName; readonly seal: boolean }
  | { readonly do: "pumpBatch"; readonly batch: BatchName; readonly max: number }
  | { readonly do: "resumeBatch" | "cancelBatch"; readonly batch: BatchName }
  | { readonly do: "listBatches"; readonly max: number };
