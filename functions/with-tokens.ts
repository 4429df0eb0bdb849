import { realRandom } from "../shared/platform/real-clock";
import * as tokens from "../shared/worker/with-tokens";
import type {
  TokenContext,
  WithTokensAnswer,
  WithTokensOptions,
} from "../shared/worker/with-tokens";
import { counted } from "./invocations";
import { tracked } from "./runtime";
import { getServices } from "./services";

/** Longest delay of a storage queue's message that still lives when it is seen. */
const delaySecondsMax = 6 * 24 * 3_600;

/**
 * Runs `body` on tokens of the limit `name`, over all instances and apps that share the database, or answers `limited`
 * with when to ask again. For any trigger; docs/guides/limits.md has one example each.
 */
export function withTokens<Result>(
  limit: WithTokensOptions & { name: string },
  body: (context: TokenContext) => Promise<Result>,
): Promise<WithTokensAnswer<Result>> {
  return tracked((runtime) => tokens.withTokens(runtime, limit, body));
}

/**
 * For queue triggers that were denied: puts `message` back into its queue, to be seen again after `inMs`, and doesn't
 * count as a try: return normally afterwards. Sent before the trigger's own message is deleted, so none is lost; a crash
 * in between delivers it twice, as storage queues may do anyway.
 */
export async function giveBack(queueName: string, message: unknown, inMs: number): Promise<void> {
  await counted(async () => {
    const services = await getServices();
    const text = typeof message === "string" ? message : JSON.stringify(message);
    // Jitter: those who were denied together don't come back together.
    const seconds = Math.ceil((inMs / 1_000) * (1 + realRandom.fraction() / 2));
    await services.queue(queueName).send(text, Math.min(seconds, delaySecondsMax));
  });
}
