import { cursor } from "./answers";
import { answer, flag, listOf, orNull, text, whole } from "./schema";

/* What routes about incidents answer: failures, pace, stops. */

const count = whole(0);
const ms = whole();
const textOrNull = orNull(text);
const msOrNull = orNull(ms);

const scheduleName = answer({ definition: text, name: text });

/** Dead tasks by error. */
export const failuresAnswer = answer({
  groups: listOf(
    answer({
      definition: text,
      kind: text,
      error: text,
      like: { ...text, description: "The error with # in place of numbers and ids." },
      count,
      firstAt: text,
      lastAt: text,
      example: text,
    }),
  ),
  more: flag,
  cursor,
  lookedAt: count,
  isWhole: flag,
});

/** The counts of a redrive of one error's tasks. */
export const redriveFailuresAnswer = answer({
  found: count,
  redriven: count,
  left: count,
  more: flag,
});

/** How a definition gets on. */
export const paceAnswer = answer({
  definition: text,
  oldestReady: orNull(answer({ task: text, createdAt: text, dueAt: text, ageMs: ms })),
  ended: orNull(answer({ count, overMs: ms, perMinute: { type: "number" } })),
  estimatedLeftMs: msOrNull,
  heldUpBy: textOrNull,
  kinds: listOf(answer({ kind: text, ended: count, p50Ms: msOrNull, p99Ms: msOrNull })),
  running: listOf(
    answer({ task: text, kind: text, state: text, sinceMs: ms, worker: textOrNull, isSlow: flag }),
  ),
});

/** The stop that is in force. */
export const stopStateAnswer = answer({
  stop: orNull(
    answer({
      at: text,
      by: text,
      reason: textOrNull,
      definitions: listOf(text),
      schedules: listOf(scheduleName),
    }),
  ),
});

/** The changes of a stop or of its end. */
export const stopAnswer = answer({
  definitions: listOf(text),
  schedules: listOf(scheduleName),
  left: listOf(text),
});
