/**
 * Input from outside: HTTP bodies and queries, queue messages, command-line arguments. Each request has one schema, from which
 * follow its type, its reader and its part of the OpenAPI document. A reader takes anything, never throws, and answers a
 * checked value or all problems, each naming field, value and what to write instead. May import core and ports.
 */
import { traceParentForm } from "../core/trace-parent";
import { z } from "zod";
import { limits } from "../core/limits";
import type { TaskId } from "../core/ids";
import { refused } from "./read-result";
import type { ReadResult } from "./read-result";
import { listQueryOf, objectOf, readValue } from "./object-schema";
import type { ValueOf } from "./object-schema";
import { looksLikeJson, parseMessage } from "./parse-json";
import { key, keyRule, maxEntries, oneOf, operationId, reason, taskId, text } from "./schemas";

/** A definition's name. */
const definitionName = text(keyRule, "the name of a definition: ");

/** A definition's name from a route or an argument. */
export function readDefinitionName(input: unknown): ReadResult<string> {
  return readValue(definitionName, input, "definition");
}

/** A task's id from a route or an argument: decimal digits; a number only as far as it is exact. */
export function readTaskId(input: unknown): ReadResult<TaskId> {
  return readValue(taskId, input, "task");
}

const limitRule = `null (no limit), "code" (the code's own again) or a whole number in 0..${String(limits.tokensMax)}`;

/** The new limit. */
export const newLimit = z
  .union(
    [z.null(), z.int(limitRule).min(0).max(limits.tokensMax), z.literal("code", limitRule)],
    limitRule,
  )
  .meta({ description: "null: no limit; 0: nothing starts; code: the code's own again." });

/** Change a limit: null no limit, 0 nothing starts, 1..1000, "code" the code's own again. A repeat with the same `operationId` answers what the first call did. */
export const readLimitRequest = objectOf({ limit: newLimit, reason, operationId });

/** Pause or resume. */
export const readOperatorRequest = objectOf({ reason }, { isOptional: true });

/** Which executions to list: all, or those that are live, or dead and not yet taken back. */
export const readListExecutionsQuery = listQueryOf(
  {
    definition: key.exactOptional(),
    open: oneOf("true", "false")
      .transform((word) => word === "true")
      .prefault("true"),
    max: maxEntries(),
  },
  { open: "isOpen" },
);
/** Which executions to list. */
export type ListExecutionsRequest = ValueOf<typeof readListExecutionsQuery>;

/** A query that must be empty. */
export const readNothing = objectOf({}, { root: "query" });

/** A hint of a queue: there may be work of this definition. */
export interface HintMessage {
  readonly taskDefinition: string;
  /** W3C traceparent of who left the hint. */
  readonly traceParent?: string;
  /** An instant of one of its schedules has come. */
  readonly schedule?: true;
}

const numberAsText = (given: unknown): unknown =>
  Number.isSafeInteger(given) ? String(given) : given;
const hintMessage = objectOf(
  {
    taskDefinition: z.preprocess(numberAsText, definitionName),
    traceParent: z.unknown().optional(),
    schedule: z.unknown().optional(),
  },
  { root: "message" },
);

/**
 * A hint `{ "taskDefinition": name, "traceParent"?: text, "schedule"?: true }`. The Functions library parses text that looks like JSON, so
 * it may arrive as an object, a text or a number; a text or number alone stands for the name (a definition may be
 * called `2024`). A malformed `traceParent` is dropped: tracing never stops work.
 */
export function readHint(message: unknown): ReadResult<HintMessage> {
  const parsed = parseMessage(message);
  if (!parsed.ok) return parsed;
  const given = numberAsText(parsed.value);
  if (typeof given === "string") {
    const name = readDefinitionName(given);
    // What starts like JSON is a damaged hint, not a name.
    if (name.ok && !looksLikeJson(given)) return { ok: true, value: { taskDefinition: given } };
    return refused("message", message, `{ "taskDefinition": name } or a name alone`);
  }
  const read = hintMessage(given);
  if (!read.ok) return read;
  const { taskDefinition, traceParent, schedule } = read.value;
  const isTrace = typeof traceParent === "string" && traceParentForm.test(traceParent);
  return {
    ok: true,
    value: {
      taskDefinition,
      ...(isTrace ? { traceParent } : {}),
      ...(schedule === true ? { schedule } : {}),
    },
  };
}
