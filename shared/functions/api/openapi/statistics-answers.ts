import { answer, listOf, orNull, text, whole } from "./schema";

/* Answers of routes about statistics. */

const count = whole(0);
const ms = whole();
const textOrNull = orNull(text);
const msOrNull = orNull(ms);

const durations = answer({ p50Ms: msOrNull, p95Ms: msOrNull, p99Ms: msOrNull });
const counted = { claimed: count, done: count, failed: count, dead: count, lost: count };

/** Statistics of a definition. */
export const statisticsAnswer = answer({
  definition: text,
  window: text,
  periodMs: ms,
  periodCount: count,
  countedAt: textOrNull,
  total: answer({
    ...counted,
    perMinute: { type: "number" },
    ran: durations,
    waited: durations,
    tokenUse: {
      ...orNull({ type: "number" }),
      description:
        "The part of the time of held tokens in which they ran tasks that ended well; failed attempts don't count.",
    },
    nextAgeMs: ms,
  }),
  periods: listOf(
    answer({
      at: text,
      ...counted,
      held: { type: "number" },
      limit: orNull(count),
      ready: count,
      nextAgeMs: ms,
      ran: durations,
      waited: durations,
    }),
  ),
});

/** The last two hours of every definition. */
export const summariesAnswer = answer({
  definitions: listOf(answer({ definition: text, done: listOf(count), failed: listOf(count) })),
});
