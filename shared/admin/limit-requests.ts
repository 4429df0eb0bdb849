/** What operators ask of rates and shared limits, as requests.ts has it. */
import { z } from "zod";
import { isObject } from "../core/foreign-value";
import { limits } from "../core/limits";
import { defaultBurst } from "../core/rate";
import type { SetRateInput } from "../ports/task-store";
import { ProblemList } from "./problem-list";
import type { ReadResult } from "./read-result";
import { listQueryOf, nested, objectOf, readValue, resultOf } from "./object-schema";
import { newLimit } from "./requests";
import { flag, key, keyRule, maxEntries, operationId, reason, text, whole } from "./schemas";

/** An operator's rate. */
type RateRequest = Pick<SetRateInput, "rate" | "reason">;

const rateRule = `null (no rate), "code" (the code's own again) or { count, periodMs, burst? }`;

const countOf = whole(1, limits.rateCountMax);
/** A rate whose bursts are at most so large. */
const rateOf = (burstMax: number) =>
  objectOf({
    count: countOf,
    periodMs: whole(limits.ratePeriodMsMin, limits.ratePeriodMsMax),
    burst: whole(1, burstMax).meta({ description: "At most `count`." }).exactOptional(),
  });

const rate = nested(rateOf(limits.rateCountMax), z.custom<object>(isObject));

/** `{ rate: { count, periodMs, burst? } | null | "code", reason? }` */
export const rateRequest = objectOf({
  rate: z
    .union([rate, z.null(), z.literal("code")], rateRule)
    .meta({ description: "null: no rate; code: the code's own again." }),
  reason,
});

/** The body of a rate's change. */
export function readRateRequest(input: unknown): ReadResult<RateRequest> {
  const problems = new ProblemList();
  const read = rateRequest.readAt(input, { problems });
  const given = isObject(input) ? input["rate"] : null;
  if (!isObject(given)) return resultOf(read as RateRequest | null, problems);
  const count = countOf.safeParse(given["count"]);
  const change = rateOf(count.data ?? 1).readAt(given, { problems });
  if (read === null || change === null) return resultOf<RateRequest>(null, problems);
  const burst = change.burst ?? defaultBurst(change);
  return resultOf<RateRequest>({ ...read, rate: { ...change, burst } }, problems);
}

/** The same as of a definition's limit; `create` makes a limit that isn't there yet. */
export const readSharedLimitRequest = objectOf({
  limit: newLimit,
  create: flag
    .meta({
      description:
        "true: a limit that isn't there yet is made, for code to come. Else its name is refused.",
    })
    .exactOptional(),
  reason,
  operationId,
});

/** Which shared limits to list. */
export const readListSharedLimitsQuery = listQueryOf({
  name: key.exactOptional(),
  max: maxEntries(),
});

const sharedLimitName = text(keyRule, "the name of a shared limit: ");

/** The name of a shared limit from a route or an argument. */
export function readSharedLimitName(input: unknown): ReadResult<string> {
  return readValue(sharedLimitName, input, "name");
}
