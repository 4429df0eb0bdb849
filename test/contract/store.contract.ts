import type { StoreSetup } from "../support/store-setup";
import { describeClaims } from "./claims.contract";
import { describeCompletion } from "./completion.contract";
import { describeDedupe } from "./dedupe.contract";
import { describeDefinitions } from "./definitions.contract";
import { describeEnqueue } from "./enqueue.contract";
import { describeExecutions } from "./executions.contract";
import { describeFailures } from "./failures.contract";
import { describeFencing } from "./fencing.contract";
import { describeGroups } from "./groups.contract";
import { describeHeartbeat } from "./heartbeat.contract";
import { describeInvariants } from "./invariants.contract";
import { describeReadModels } from "./read-models.contract";
import { describeReclaim } from "./reclaim.contract";
import { describeSchedule } from "./schedule.contract";
import { describeTokens } from "./tokens.contract";
import { describeTransactions } from "./transactions.contract";

/** The definition of the store seam: every store keeps all of it. */
export function describeStore(setup: StoreSetup): void {
  describeDefinitions(setup);
  describeTokens(setup);
  describeExecutions(setup);
  describeClaims(setup);
  describeCompletion(setup);
  describeFailures(setup);
  describeHeartbeat(setup);
  describeFencing(setup);
  describeGroups(setup);
  describeEnqueue(setup);
  describeDedupe(setup);
  describeSchedule(setup);
  describeReclaim(setup);
  describeReadModels(setup);
  describeInvariants(setup);
  describeTransactions(setup);
}
