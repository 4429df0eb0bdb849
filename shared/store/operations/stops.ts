import { checkInt } from "./checks";
import { json } from "./columns";
import { operationsOf } from "./operation";

/* ---- A stop of everything: definitions and schedules that were paused together ---- */

/** What a stop has paused. `pauseDefinition` and `setSchedulePaused` with `isStop` make it; each resume ends its part. */
export interface StopOperations {
  /** What the end of the stop is to resume. */
  listStopped(input: ListStoppedInput): Promise<ListStoppedAnswer>;
}

export interface ListStoppedInput {
  /** At most so many definitions, and as many schedules; 1..1000. */
  max: number;
}

export interface ListStoppedAnswer {
  /** By name. */
  definitions: StoppedDefinition[];
  /** By definition and name. */
  schedules: StoppedSchedule[];
}

export interface StoppedDefinition {
  definition: string;
  /** ISO-8601 UTC */
  at: string;
  by: string;
  reason: string | null;
}

export interface StoppedSchedule extends StoppedDefinition {
  name: string;
}

const operation = operationsOf<StopOperations>();

/** Procedure `list_stopped`. */
export const listStopped = operation("listStopped", {
  parameters: { max: "int" },
  check: (input) => {
    checkInt("max", input.max);
    return input;
  },
  decode: (row) => ({
    definitions: json<StoppedDefinition[]>(row, "definitions"),
    schedules: json<StoppedSchedule[]>(row, "schedules"),
  }),
});
