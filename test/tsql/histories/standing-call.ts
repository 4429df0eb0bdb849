import type { NewSchedule } from "../../../shared/ports/task-store";
import type { Limit } from "../../../shared/ports/task-store";
import type { ScheduleName } from "./call-names";
import type { EnqueuedTask } from "./new-tasks";

/** As NewSchedule, with the instant counted from the history's start. */
export type SetSchedule = Omit<NewSchedule, "nextRunAt"> & { readonly nextRunAtMs: number | null };

export interface AdvanceWatermarkCall {
  readonly do: "advanceWatermark";
  readonly definition: string;
  readonly watermark: string;
  readonly expectedVersion: string;
  readonly value: string;
  readonly build: number;
  readonly tasks: readonly EnqueuedTask[];
  /** Number of the operation id; null: none. */
  readonly operation: number | null;
}

/** The rows beside tasks that decide about them: schedules, watermarks, limits that definitions share. */
export type StandingAction =
  | {
      readonly do: "setSchedules";
      readonly definition: string;
      readonly build: number;
      readonly schedules: readonly SetSchedule[];
    }
  | {
      readonly do: "setSchedulePaused";
      readonly definition: string;
      readonly schedule: string;
      readonly paused: boolean;
      readonly nextRunAtMs: number | null;
    }
  | {
      readonly do: "fireSchedule";
      readonly schedule: ScheduleName;
      readonly expectedRunAtMs: number;
      readonly runAtsMs: readonly number[];
      readonly nextRunAtMs: number | null;
    }
  | { readonly do: "listSchedules"; readonly definition?: string; readonly max: number }
  | AdvanceWatermarkCall
  | {
      readonly do: "setWatermark";
      readonly definition: string;
      readonly watermark: string;
      readonly value: string | null;
      readonly expectedVersion?: string;
      readonly operation: number;
    }
  | { readonly do: "listWatermarks"; readonly definition?: string; readonly max: number }
  | {
      readonly do: "setSharedLimit";
      readonly shared: string;
      readonly limit: Limit | "code";
      readonly operation: number;
    }
  | { readonly do: "listSharedLimits"; readonly max: number };
