import { z } from "zod";
import { isObject } from "../core/foreign-value";
import type { JsonObject } from "../core/json";
import type { IngestEvent } from "../ports/ingest-event";
import { refused, showValue } from "./read-result";
import type { ReadResult } from "./read-result";
import { objectOf, resultOf } from "./object-schema";
import { parseJson, parseMessage } from "./parse-json";
import { findUnstorable, isUncertain } from "./payload";
import { ProblemList, SearchBudget } from "./problem-list";
import { readHint } from "./requests";
import { text } from "./schemas";

/** Reads the events of the ingest queue, in any of three forms. */

/** One event as it came, and the fields read from it. */
export interface GivenEvent {
  readonly given: unknown;
  readonly read: ReadResult<IngestEvent>;
}

/** Most events of one message. */
const eventsMax = 1_000;
/** The data of an event becomes payloads, and payloads of events are objects. */
const dataRule =
  "a JSON object: text, numbers, arrays and bytes go into a member of one, or into a blob that it names";

/** Ids, sources, types and subjects of events: a blob's subject may be as long as its path. */
const eventText = text({ min: 1, max: 2_000 });
const data = z
  .unknown()
  .optional()
  .transform((given, context) => {
    const read = readData(given ?? {}, dataRule);
    if (typeof read !== "string") return read;
    context.addIssue({ code: "custom", message: read });
    return z.NEVER;
  });

const common = {
  source: eventText,
  type: eventText,
  time: text({ min: 1, max: 100 }).nullable().default(null),
  subject: text({ min: 0, max: 2_000 }).default(""),
  data,
};
/** The three forms of an event. */
const ownEvent = objectOf(
  { eventId: eventText, ...common },
  { names: { eventId: "id" }, root: "message" },
);
const cloudEvent = objectOf(
  {
    specversion: z.literal("1.0", `"1.0"`),
    id: eventText,
    ...common,
    data_base64: z.unknown().optional(),
  },
  { root: "message", isOpen: true },
);
const gridEvent = objectOf(
  {
    id: eventText,
    topic: eventText,
    eventType: eventText,
    eventTime: common.time,
    subject: common.subject,
    data,
  },
  {
    names: { topic: "source", eventType: "type", eventTime: "time" },
    root: "message",
    isOpen: true,
  },
);

/**
 * Events of the ingest queue, one or an array of 1..1,000, each read for itself, in any of three forms: our own
 * `{ eventId, source, type, subject?, time?, data? }`, CloudEvents 1.0 in JSON (`specversion` tells), Event Grid's schema
 * (`eventType` tells). `data` is an object, {} where it is missing; of CloudEvents also as `data_base64`. The two foreign
 * forms may carry further members, ours may not.
 */
export function readEachEvent(message: unknown): ReadResult<GivenEvent[]> {
  const read = parseMessage(message);
  if (!read.ok) return read;
  const parsed = read.value;
  if (!Array.isArray(parsed)) return { ok: true, value: [readEvent(parsed, new SearchBudget())] };
  if (parsed.length < 1 || parsed.length > eventsMax) {
    return refused("message", parsed, `an event or an array of 1..${String(eventsMax)} events`);
  }
  const searches = new SearchBudget();
  return { ok: true, value: parsed.map((given) => readEvent(given, searches)) };
}

/** All events of a message, or every problem of any of them. */
export function readEvents(message: unknown): ReadResult<IngestEvent[]> {
  const each = readEachEvent(message);
  if (!each.ok) return each;
  const problems = new ProblemList();
  const value: IngestEvent[] = [];
  for (const { read } of each.value) {
    if (read.ok) value.push(read.value);
    else problems.addAll(read);
  }
  return problems.isEmpty ? { ok: true, value } : { ok: false, ...problems.answer() };
}

/** All readers of queue messages, by queue; the tests of bad input go through them. */
export const queueReaders = { hints: readHint, ingest: readEvents } as const;

function readEvent(given: unknown, searches: SearchBudget): GivenEvent {
  const problems = new ProblemList(searches);
  if (isObject(given) && "specversion" in given)
    return { given, read: resultOf(readCloudEvent(given, problems), problems) };
  const form = isObject(given) && "eventType" in given ? gridEvent : ownEvent;
  return { given, read: resultOf<IngestEvent>(form.readAt(given, { problems }), problems) };
}

/** Bytes that are a JSON object in UTF-8 are taken as it; CloudEvents allows `data` or `data_base64`, not both. */
function readCloudEvent(given: object, problems: ProblemList): IngestEvent | null {
  const bytes = "data_base64" in given ? (given.data_base64 ?? null) : null;
  const read = cloudEvent.readAt(bytes === null ? given : { ...given, data: null }, { problems });
  const { id = "", source = "", type = "", subject = "", time = null } = read ?? {};
  const event = { id, source, type, subject, time };
  if (bytes === null) return read === null ? null : { ...event, data: read.data };
  const refuse = (expected: string): null => {
    problems.add({ field: "data_base64", value: showValue(bytes), expected });
    return null;
  };
  if ("data" in given && (given.data ?? null) !== null) refuse("none beside `data`");
  const decoded = decodeJson(bytes);
  if (!decoded.ok) problems.addAll(decoded);
  const data = decoded.ok ? readData(decoded.value, `base64 of ${dataRule}`) : {};
  return typeof data === "string" ? refuse(data) : { ...event, data };
}

/** Whether its tasks could be stored; the Functions library has parsed the text, so its numbers can't be compared. */
function readData(given: unknown, rule: string): JsonObject | string {
  if (!isObject(given)) return rule;
  const problem = findUnstorable(given, isUncertain);
  return problem === null ? (given as JsonObject) : `a JSON object ${problem}`;
}

function decodeJson(text: unknown): ReadResult<unknown> {
  if (typeof text !== "string") return { ok: true, value: undefined };
  try {
    const bytes = Buffer.from(text, "base64");
    const json = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return parseJson(json, { root: "data_base64", at: "data_base64" });
  } catch {
    return { ok: true, value: undefined };
  }
}
