import type { StoreSetup } from "../support/store-setup";
import { describeClaims } from "./claims.contract";
import { describeCompletion } from "./completion.contract";
import { describeDefinitions } from "./definitions.contract";
import { describeExecutions } from "./executions.contract";
import { describeTokens } from "./tokens.contract";

/** The definition of the store seam: every store keeps all of it. */
export function describeStore(setup: StoreSetup): void {
  describeDefinitions(setup);
  describeTokens(setup);
  describeExecutions(setup);
  describeClaims(setup);
  describeCompletion(setup);
}
