import type { TaskStore } from "../../../shared/ports/task-store";
import type { World } from "../../tsql-server/engine/world";

/** A store in which a call is about to be measured. */
export interface Scene {
  readonly store: TaskStore;
  readonly world: World;
  /** The definition that all is about; it doesn't exist yet. */
  readonly name: string;
  /** Tasks per call. */
  readonly batch: number;
}

/** One operation in one situation. */
export interface Scenario {
  readonly operation: keyof TaskStore;
  readonly what: string;
  readonly batches: readonly number[];
  /** Sets the scene and gives the call to be measured. */
  prepare(scene: Scene): Promise<() => Promise<unknown>>;
}
