import { checkMax } from "./checks";
import { columns, json, jsonOrNull, oneOf } from "./columns";
import { operationsOf } from "./operation";
import { cleanActor } from "./operator";
import type { OperatorInput } from "./operator";

/* ---- A stop of everything: definitions and schedules that were paused together ---- */

/**
 * A stop of everything. `setStop` says that it is on: what is registered from then on is paused from its beginning. What there
 * is, `pauseDefinition` and `setSchedulePaused` with `isStop` pause; each resume ends its part.
 */
export interface StopOperations {
  /** Says that a stop of everything is on, or that it has ended. Idempotent by value. */
  setStop(input: SetStopInput): Promise<SetStopAnswer>;
  /** What the end of the stop is to resume. */
  listStopped(input: ListStoppedInput): Promise<ListStoppedAnswer>;
}

export interface SetStopInput extends Omit<OperatorInput, "name"> {
  isOn: boolean;
}

const set = columns({ status: oneOf("stopped", "resumed", "exists") });
/** Answer of `setStop`. */
export type SetStopAnswer = ReturnType<typeof set>;

export interface ListStoppedInput {
  /** At most so many definitions, and as many schedules; 1..1000. */
  max: number;
}

const listed = columns({
  /** The stop that is on; null: none is. */
  stop: jsonOrNull<StopNote>,
  /** By name. */
  definitions: json<StoppedDefinition[]>,
  /** By definition and name. */
  schedules: json<StoppedSchedule[]>,
});
/** Answer of `listStopped`. */
export type ListStoppedAnswer = ReturnType<typeof listed>;

/** Instant, actor and reason of a stop. */
export interface StopNote {
  /** ISO-8601 UTC */
  at: string;
  by: string;
  reason: string | null;
}

export interface StoppedDefinition extends StopNote {
  definition: string;
}

export interface StoppedSchedule extends StoppedDefinition {
  name: string;
}

const operation = operationsOf<StopOperations>();

/** Procedure `set_stop`. */
export const setStop = operation("setStop", {
  right: "operator",
  parameters: { isOn: "boolean", changedBy: "text", reason: "text" },
  check: (input) => ({ ...input, ...cleanActor(input) }),
  decode: set,
});

/** Procedure `list_stopped`. */
export const listStopped = operation("listStopped", {
  right: "worker",
  parameters: { max: "int" },
  check: checkMax,
  decode: listed,
});
