import { callsDefinition } from "../../shared/core/calls-definition";
import { enqueue, startWorker } from "../support/builders";
import type { ApiSetup } from "./api-setup";

/** Functions under the limit, as commands and the API name them. */
export const calls = callsDefinition(["partner-api"]);

/**
 * Four tokens of `partner-api`: functions hold two of them, `notify` one, for a task that runs, while another is ready. `resize` has
 * a limit of its own beside it.
 */
export async function makeLimitScene({ store, register }: ApiSetup): Promise<void> {
  const partner = { name: "partner-api", limit: 4 };
  const wide = { name: "database", limit: 20 };
  await register(calls, { limit: null, sharedLimits: [partner] });
  await register("notify", { limit: null, sharedLimits: [wide, partner] });
  await register("resize", { limit: 8, sharedLimits: [partner] });
  await register("free", { limit: null });
  await startWorker(store, calls, { want: 2 });
  await enqueue(store, "notify", 2);
  const worker = await startWorker(store, "notify", { want: 1 });
  await worker.claim(1);
}
