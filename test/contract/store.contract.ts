import type { StoreSetup } from "../support/store-setup";
import { describeDefinitions } from "./definitions.contract";
import { describeExecutions } from "./executions.contract";

/** The definition of the store seam: every store keeps all of it. */
export function describeStore(setup: StoreSetup): void {
  describeDefinitions(setup);
  describeExecutions(setup);
}
