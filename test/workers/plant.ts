import type { WorkerEnvironment } from "../../shared/worker/environment";
import type { Heartbeat } from "../../shared/worker/run/heartbeat";
import type { Tamper } from "./database";
import type { PromiseName } from "./watch";

/** A mistake put in from outside, to show that the simulation would notice it. No shipped file is changed. */
export interface Plant {
  readonly name: string;
  readonly promise: PromiseName;
  /** Promises that it breaks as well, maybe first. */
  readonly breaksToo?: readonly PromiseName[];
  /** What a host's worker works with. */
  environment?(environment: WorkerEnvironment): WorkerEnvironment;
  heartbeat?(environment: WorkerEnvironment): Heartbeat;
  /** Stands in the database. Another one for each run. */
  tamper?(): Tamper;
  readonly renewsIds?: boolean;
  /** Failovers that lose commits in each run; by default 4 in every fourth. */
  readonly failovers?: number;
  /** So many seeds show it at the latest; by default 40. */
  readonly seeds?: number;
}
